UPDATE docs_documents SET doc = jsonb_set(doc, '{note}', to_jsonb(:note)) WHERE id = :id;
