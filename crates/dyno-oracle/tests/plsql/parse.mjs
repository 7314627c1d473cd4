// Parses statements with ANTLR's grammar of Oracle's SQL and PL/SQL. Reads a JSON array of {name, sql} on standard input and
// writes one of {name, errors, binds}: what the grammar does not accept, with line and column, and the bind variables in
// the order in which they come. Run it as `node --input-type=module --eval "$(cat parse.mjs)"` in a folder in which `npm
// install` has put what package.json names: there imports are looked for in the working directory.

import { CharStream, CommonTokenStream, PredictionMode } from "antlr4";
import { PlSqlLexer, PlSqlParser } from "@griffithswaite/ts-plsql-parser";

const read = async () => {
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  return JSON.parse(text);
};

// The grammar's keywords are in upper case; texts in quotes mean nothing here.
const upper = (sql) => sql.toUpperCase();

const parse = ({ name, sql }) => {
  const errors = [];
  const listener = {
    syntaxError: (_recognizer, _symbol, line, column, message) => errors.push({ line, column, message: message.slice(0, 120) }),
    reportAmbiguity() {},
    reportAttemptingFullContext() {},
    reportContextSensitivity() {},
  };
  const lexer = new PlSqlLexer(new CharStream(upper(sql)));
  lexer.removeErrorListeners();
  lexer.addErrorListener(listener);
  const tokens = new CommonTokenStream(lexer);
  const parser = new PlSqlParser(tokens);
  parser.removeErrorListeners();
  parser.addErrorListener(listener);
  // The quick way of predicting; what it accepts, the thorough one accepts too.
  parser._interp.predictionMode = PredictionMode.SLL;
  parser.sql_script();
  const binds = [];
  for (const token of tokens.tokens) {
    if (token.type === PlSqlLexer.BINDVAR && !binds.includes(token.text)) binds.push(token.text);
  }
  return { name, errors, binds: binds.map((bind) => bind.slice(1).toLowerCase()) };
};

process.stdout.write(JSON.stringify((await read()).map(parse)) + "\n");
