UPDATE docs_documents SET doc = jsonb_set(doc, '{points}', to_jsonb((doc ->> 'points')::int - :points)) WHERE id = :id;
UPDATE docs_documents SET doc = jsonb_set(doc, '{points}', to_jsonb((doc ->> 'points')::int + :points)) WHERE id = :neighbour;
