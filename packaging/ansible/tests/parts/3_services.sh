# Files of agent and pages: twice and in check mode. No systemd: the units are written for a look at them, and nothing is started.
installed
key=$("$work/usr/bin/dyno" agent --make-key)
user=$(id -un)
cat >"$work/services.yml" <<EOF
- name: Configure services
  hosts: localhost
  connection: local
  gather_facts: false
  vars:
    dyno_config_dir: $work/etc
    dyno_agent_user: $user
    dyno_agent_create_user: false
    dyno_agent_state_dir: $work/agent
    dyno_agent_group_key: "$key"
    dyno_agent_nats_auth: { user: dyno, password: nats-secret }
    dyno_agent_targets:
      - { url: "postgres://dyno@*/bench", writes: true, password_env: SHOP_PASSWORD }
    dyno_agent_environment: { SHOP_PASSWORD: !unsafe 'a "b" \\ \$c' }
    dyno_serve_user: $user
    dyno_serve_create_user: false
    dyno_serve_state_dir: $work/serve
    dyno_serve_targets:
      shop: { url: "postgres://dyno@db1/bench", about: 'storage "new"', password_env: SHOP_PASSWORD }
    dyno_serve_environment: { SHOP_PASSWORD: shop-secret }
    dyno_serve_options: [--listen, "127.0.0.1:7979"]
  roles: [dyno.platform.agent, dyno.platform.serve]
EOF
play services_check "$work/services.yml" --check --extra-vars dyno_systemd=false
[ ! -e "$work/etc" ] || fail 'check mode wrote files'
play services "$work/services.yml" --extra-vars dyno_systemd=false
play services_again "$work/services.yml" --extra-vars dyno_systemd=false
changed services_again 0
! grep -qE "secret|$key" "$work"/services*.log || fail 'a secret is in the output'
modes=$(cd "$work/etc" && stat --format='%n %a' -- * | tr '\n' ' ')
[ "$modes" = 'agent.env 600 agent.toml 640 group.key 600 nats.toml 600 serve.env 600 targets.toml 640 ' ] || fail "modes: $modes"
grep -qxF 'SHOP_PASSWORD="a \"b\" \\ \$c"' "$work/etc/agent.env" || { cat "$work/etc/agent.env"; fail 'the environment is not quoted for systemd'; }
# Dyno reads what the roles write: it gets as far as the absent NATS server.
timeout 20 "$work/usr/bin/dyno" agent --config "$work/etc/agent.toml" --group-key-file "$work/etc/group.key" --nats nats://127.0.0.1:1 \
    --nats-auth "$work/etc/nats.toml" --keep "$work/agent" >"$work/agent.out" 2>&1 || true
grep -qi 'nats' "$work/agent.out" && ! grep -qE 'agent\.toml|group\.key|nats\.toml' "$work/agent.out" || { cat "$work/agent.out"; fail 'the agent does not read its files'; }
python3 -c 'import sys, tomllib; t = tomllib.load(open(sys.argv[1], "rb")); sys.exit(t["targets"]["shop"]["about"] != "storage \"new\"")' \
    "$work/etc/targets.toml" || fail 'targets.toml'

# The units, as written for a host with systemd.
mkdir "$work/units"
play units "$work/services.yml" --extra-vars "dyno_systemd=true dyno_unit_dir=$work/units"
grep -qxF "ExecStart=$work/usr/bin/dyno serve --targets $work/etc/targets.toml --state $work/serve/state --listen 127.0.0.1:7979" \
    "$work/units/dyno-serve.service" || { cat "$work/units/dyno-serve.service"; fail 'the unit of the pages'; }
grep -qxF "EnvironmentFile=-$work/etc/serve.env" "$work/units/dyno-serve.service" || fail 'the environment of the pages'
grep -qF "ExecStart=$work/usr/bin/dyno agent --name localhost --config $work/etc/agent.toml" "$work/units/dyno-agent.service" || fail 'the unit of the agent'
if command -v systemd-analyze >/dev/null; then
    systemd-analyze verify --man=no "$work"/units/*.service || fail 'systemd refuses a unit'
fi
