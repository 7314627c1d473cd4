# The collection, its playbooks and its roles.
(cd "$here" && ansible-lint --offline --project-dir . --strict) || fail 'ansible-lint'
