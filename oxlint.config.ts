/** What works on runs from outside may use all that runs use. */
const acrossRuns = [
  'lib',
  'db',
  'orgs',
  'http',
  'schedule',
  'analysis',
  'siem',
  'agent',
  'hits',
  'detections',
  'runs',
  'logs',
  'tools',
];

/** Who may import whom, one line a room of `src/`. The arrows of the house, held by the linter. */
const rooms: Record<string, string[]> = {
  lib: [],
  db: ['lib'],
  http: ['lib', 'db', 'orgs'],
  orgs: ['lib', 'db', 'http'],
  outputs: ['lib', 'db', 'orgs', 'http'],
  schedule: ['lib', 'db', 'orgs', 'outputs'],
  siem: ['lib'],
  connections: ['lib', 'db', 'orgs', 'http', 'schedule', 'siem', 'outputs'],
  analysis: ['lib', 'db', 'orgs', 'siem'],
  logs: ['lib', 'db', 'orgs', 'http', 'siem'],
  tools: ['lib'],
  mcp: ['lib', 'db', 'orgs', 'http', 'tools'],
  agent: ['lib', 'analysis', 'siem', 'tools'],
  hits: ['lib', 'db', 'orgs', 'http', 'analysis', 'agent', 'outputs'],
  detections: ['lib', 'db', 'orgs', 'http', 'schedule', 'analysis', 'siem', 'outputs', 'tools'],
  runs: [
    'lib',
    'db',
    'orgs',
    'http',
    'connections',
    'schedule',
    'analysis',
    'siem',
    'agent',
    'hits',
    'detections',
    'outputs',
    'tools',
  ],
  proof: acrossRuns,
  keeping: [...acrossRuns, 'agents'],
  feed: ['lib', 'db', 'orgs', 'http'],
  ingest: ['lib', 'db', 'orgs', 'http', 'schedule', 'feed', 'outputs'],
  relevance: ['lib', 'db', 'orgs', 'http', 'analysis', 'agent', 'feed', 'ingest', 'outputs', 'suggest'],
  exposure: ['lib', 'db', 'orgs', 'http', 'feed', 'relevance', 'siem', 'outputs'],
  exports: ['lib', 'db', 'orgs', 'http', 'feed'],
  taxii: ['lib', 'db', 'orgs', 'http', 'feed', 'exports'],
  suggest: [
    'lib',
    'db',
    'orgs',
    'http',
    'connections',
    'siem',
    'analysis',
    'agent',
    'detections',
    'runs',
    'feed',
    'ingest',
    'logs',
    'proof',
  ],
  agents: ['lib', 'db', 'orgs', 'http', 'schedule', 'agent', 'detections', 'runs', 'relevance', 'suggest'],
  'as-code': ['lib', 'detections'],
  testing: ['lib', 'detections', 'logs', 'proof', 'as-code'],
};
const composition = ['main', 'app', 'worker', 'build-deps', 'setup', 'database'];
const everyRoom = [...Object.keys(rooms), 'demo', 'commands'];

type Ban = { regex: string; message: string };

const always: Ban[] = [
  { regex: String.raw`(^|/)index\.ts$`, message: 'No barrels: import from the file that has it.' },
  {
    regex: String.raw`^(\.\./)+(${composition.join('|')})\.ts$`,
    message: 'Nothing below imports the composition.',
  },
];
const noStore: Ban = {
  regex: String.raw`(store(-[a-z-]+)?\.ts$|^kysely$|/db/db\.ts$)`,
  message: 'Routes call use cases, never a store or SQL.',
};
const readyFunctions: Ban = {
  regex: String.raw`^(\.\./)+(db|orgs|http|schedule|feed)/`,
  message: 'Adapters see neither the database nor an organization: they get ready functions.',
};

const ban = (patterns: Ban[]) => ({ 'no-restricted-imports': ['error', { patterns }] as const });

function outside(room: string): Ban {
  const allowed = rooms[room] ?? [];
  const others = everyRoom.filter((other) => other !== room && !allowed.includes(other));
  return {
    regex: String.raw`^(\.\./)+(${others.join('|')})/`,
    message: `${room}/ may import only: ${allowed.join(', ') || 'nothing'}.`,
  };
}

export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node', 'promise'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'import/no-cycle': 'error',
    'node/no-process-env': 'error',
    'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
    'max-params': ['error', 4],
    'typescript/no-explicit-any': 'error',
    'typescript/consistent-type-imports': 'error',
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-console': 'off',
    'no-shadow': 'off',
    'no-control-regex': 'off',
    'no-underscore-dangle': 'off',
    'no-await-in-loop': 'off',
    'import/no-unassigned-import': 'off',
    'unicorn/consistent-function-scoping': 'off',
    // Of windows; threads have no origin.
    'unicorn/require-post-message-target-origin': 'off',
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
  },
  // A later entry stands over an earlier one.
  overrides: [
    ...Object.keys(rooms).flatMap((room) => [
      { files: [`src/${room}/**/*.ts`], rules: ban([...always, outside(room)]) },
      {
        files: [`src/${room}/**/routes.ts`, `src/${room}/**/*-routes.ts`],
        rules: ban([...always, outside(room), noStore]),
      },
    ]),
    { files: ['src/ingest/sources/*.ts'], rules: ban([...always, outside('ingest'), readyFunctions]) },
    {
      files: ['src/**/*.test.ts', 'test/**/*.ts', 'bench/**/*.ts', 'soak/**/*.ts'],
      rules: { ...ban([always[0]!]), 'max-lines': 'off', 'max-params': 'off', 'node/no-process-env': 'off' },
    },
    { files: ['src/config.ts'], rules: { 'node/no-process-env': 'off' } },
  ],
  ignorePatterns: ['node_modules', 'web/dist', 'openapi.json'],
};
