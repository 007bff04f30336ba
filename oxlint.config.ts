/**
 * The rooms of `src/` and the rooms of the same half that each may import. `platform` is open to both halves, and
 * `agents` may import everything below `app`. The order of the lines is the order of the layers.
 */
const rooms: Record<Half, Record<string, string[]>> = {
  platform: {
    lib: [],
    db: ['lib'],
    'embedded-postgres': ['lib'],
    http: ['lib', 'db'],
    orgs: ['lib', 'db', 'http'],
    notifications: ['lib', 'db', 'orgs', 'http'],
    models: ['lib', 'db', 'orgs', 'http', 'notifications'],
    mcp: ['lib', 'db', 'orgs', 'http', 'models'],
    enrichment: ['lib', 'db', 'orgs', 'http'],
    retention: ['lib', 'db', 'orgs', 'http'],
    views: ['lib', 'db', 'orgs', 'http'],
  },
  detection: {
    matching: [],
    siem: ['matching'],
    analysis: ['siem'],
    scheduling: [],
    connections: ['siem', 'scheduling'],
    'log-store': [],
    'log-engine': ['siem', 'matching', 'log-store'],
    'log-ingest': ['log-store'],
    'log-query': ['siem', 'matching', 'log-store', 'log-engine', 'log-ingest'],
    'log-compaction': ['log-store', 'log-engine', 'log-query'],
    shippers: ['log-store', 'log-ingest'],
    entities: ['analysis'],
    'value-lists': ['siem', 'analysis', 'connections', 'entities', 'log-engine'],
    tools: ['analysis', 'siem', 'matching'],
    verdicts: ['analysis', 'siem', 'tools'],
    hits: ['analysis', 'verdicts', 'entities', 'value-lists'],
    skills: [],
    detections: ['siem', 'analysis', 'scheduling', 'tools', 'verdicts', 'skills', 'value-lists'],
    managed: ['detections'],
    'as-code': ['detections', 'managed'],
    library: ['siem', 'analysis', 'log-store', 'log-engine', 'log-query', 'detections', 'managed', 'as-code'],
    packs: ['detections', 'managed', 'as-code'],
    'response-agents': ['analysis', 'detections', 'managed', 'as-code', 'library'],
    sigma: ['siem', 'matching', 'connections', 'log-engine', 'log-query', 'detections', 'managed'],
    'rule-sources': ['log-query', 'detections', 'sigma'],
    'portable-queries': ['siem', 'matching', 'log-engine', 'log-ingest', 'log-query', 'sigma'],
    // prettier-ignore
    continuous: [
      'siem', 'matching', 'analysis', 'scheduling', 'log-store',
      'log-engine', 'log-query', 'detections', 'sigma', 'portable-queries',
    ],
    // prettier-ignore
    runs: [
      'entities', 'value-lists', 'siem', 'analysis', 'scheduling', 'connections', 'tools',
      'verdicts', 'hits', 'skills', 'detections', 'response-agents', 'continuous',
    ],
    incidents: ['analysis', 'entities', 'value-lists', 'hits', 'detections', 'runs'],
    'incident-reports': ['analysis', 'verdicts', 'hits', 'incidents', 'detections', 'runs'],
    // prettier-ignore
    testing: [
      'value-lists', 'siem', 'analysis', 'scheduling', 'log-store', 'log-engine', 'log-ingest',
      'log-query', 'verdicts', 'hits', 'detections', 'managed', 'as-code', 'runs',
    ],
  },
  feed: {
    model: [],
    'reference-data': ['model'],
    extraction: ['model', 'reference-data'],
    formats: ['model', 'reference-data', 'extraction'],
    items: ['model', 'reference-data', 'extraction'],
    indicators: ['model', 'reference-data', 'extraction', 'items'],
    deduplication: ['model', 'items'],
    ingestion: ['model', 'reference-data', 'extraction', 'formats', 'items', 'deduplication'],
    sources: ['model', 'reference-data', 'extraction', 'formats', 'items', 'deduplication', 'ingestion'],
    reading: ['model', 'reference-data', 'extraction', 'formats', 'items', 'ingestion'],
    curation: ['model', 'items', 'deduplication', 'ingestion', 'sources'],
    relevance: ['model', 'items'],
    exports: ['model', 'reference-data', 'extraction', 'items', 'indicators'],
    entities: ['model', 'extraction', 'items', 'exports'],
    stories: ['model', 'items', 'exports'],
    taxii: ['model', 'items', 'exports'],
    digest: ['model', 'items', 'exports', 'relevance', 'stories'],
  },
  agents: {
    sightings: [],
    suggestions: [],
    hunting: ['sightings', 'suggestions'],
    'threat-research': ['suggestions'],
    'threat-relevancy': ['suggestions'],
    runs: ['threat-research', 'threat-relevancy'],
    overview: [],
    rehearsals: ['sightings', 'suggestions'],
    'attack-coverage': ['rehearsals'],
    context: [],
    'source-worth': [],
    'mcp-server': ['attack-coverage', 'context', 'overview', 'sightings', 'suggestions'],
  },
};
/** The order of the folders inside a room: each may import those before it. */
const folders: Record<`${Half}/${string}`, string[]> = {
  'platform/lib': ['outbound-http', 'text', 'threads', 'time', 'logging', 'storage', 'concurrency', 'json'],
  'platform/http': ['responses', 'openapi'],
  'platform/orgs': ['audit', 'limits', 'sessions', 'single-sign-on'],
  'platform/notifications': ['kinds', 'stream'],
  'platform/models': ['calls', 'check'],
  'detection/log-store': ['catalog', 'files'],
  'detection/log-engine': ['sql', 'inspection', 'queries', 'process'],
  'detection/log-ingest': ['events', 'body'],
  'detection/log-query': ['search', 'datasets'],
  'detection/shippers': ['formats', 'http'],
  'detection/analysis': ['rows', 'memory', 'seasons', 'categories'],
  // prettier-ignore
  'detection/detections': ['record', 'history', 'exceptions', 'agent-settings', 'tool-grants', 'triggers', 'summaries', 'bulk'],
  // prettier-ignore
  'feed/extraction': ['classifier', 'lexicon', 'text', 'indicators', 'names', 'techniques', 'products', 'severity', 'reading'],
  'feed/formats': ['rss', 'report-files', 'misp', 'csv', 'stix', 'taxii', 'csaf', 'nvd', 'osv'],
  'feed/items': ['snapshot', 'list-query', 'search-terms', 'search', 'writing'],
  'feed/sources': ['documents', 'pull'],
  'feed/exports': ['relationships', 'stix'],
  'agents/suggestions': ['templates', 'drafting', 'matching'],
  // prettier-ignore
  'detection/runs': ['run-model', 'triggers', 'judging', 'responses', 'reviews', 'review-queue', 'execution', 'workers'],
  'detection/siem': ['dialects', 'connectors'],
  'detection/verdicts': ['claims', 'analyst', 'investigation', 'follow-ups'],
  'detection/sigma': ['rules', 'mappings', 'convert'],
};
type Half = 'platform' | 'detection' | 'feed' | 'agents';
const halvesBelow: Record<Half, Half[]> = {
  platform: [],
  detection: ['platform'],
  feed: ['platform'],
  agents: ['platform', 'detection', 'feed'],
};
const depthMax = 3;
type Ban = { regex: string; message: string };

const always: Ban[] = [
  { regex: String.raw`(^|/)index\.ts$`, message: 'No barrels: import from the file that defines it.' },
];
const noStore: Ban = {
  regex: String.raw`(\.(store|sql)\.ts$|^kysely$|/db/db\.ts$)`,
  message: 'Routes call use cases, never a store or SQL.',
};
const readyFunctions: Ban = {
  regex: String.raw`/(db|orgs|http|scheduling|items)/`,
  message: 'Adapters see neither the database nor an organization. They receive ready functions.',
};

const ban = (patterns: Ban[]) => ({ 'no-restricted-imports': ['error', { patterns }] as const });

/** Bans what a file may not import whose room lies `depth` folders above it: other rooms, other halves and what is above them. */
function outside(half: Half, room: string, depth: number): Ban[] {
  const allowed = rooms[half][room] ?? [];
  const others = Object.keys(rooms[half]).filter((other) => other !== room && !allowed.includes(other));
  const below = halvesBelow[half];
  const halves = [...Object.keys(rooms), 'app', 'cli', 'demo'].filter(
    (other) => other !== half && !below.includes(other as Half),
  );
  const up = (levels: number): string => String.raw`^${'\\.\\./'.repeat(levels)}`;
  return [
    {
      regex: `${up(depth + 1)}(${others.join('|') || '-'})/`,
      message: `${half}/${room} may import from its own half only: ${allowed.join(', ') || 'nothing'}.`,
    },
    {
      regex: `${up(depth + 2)}(${halves.join('|')})/`,
      message: `${half} may import only: ${below.join(', ') || 'nothing outside itself'}.`,
    },
  ];
}

const adapterBans = (room: string): Ban[] => (['siem', 'formats', 'tools'].includes(room) ? [readyFunctions] : []);

/** One override for each room and depth, and one more for its routes. */
const roomOverrides = (Object.keys(rooms) as Half[]).flatMap((half) =>
  Object.keys(rooms[half]).flatMap((room) =>
    Array.from({ length: depthMax + 1 }, (_, depth) => {
      const folder = `src/${half}/${room}/${'*/'.repeat(depth)}`;
      const bans = [...always, ...outside(half, room, depth)];
      return [
        { files: [`${folder}*.ts`], rules: ban([...bans, ...adapterBans(room)]) },
        { files: [`${folder}*.routes.ts`], rules: ban([...bans, noStore]) },
      ];
    }).flat(),
  ),
);

/** One override for each folder with an order and each depth, and one more for its routes. */
const folderOverrides = Object.entries(folders).flatMap(([path, order]) =>
  order.flatMap((folder, at) =>
    Array.from({ length: depthMax }, (_, depth) => {
      const [half, room] = path.split('/') as [Half, string];
      const later: Ban = {
        regex: String.raw`^${'\\.\\./'.repeat(depth + 1)}(${order.slice(at + 1).join('|') || '-'})/`,
        message: `${path}/${folder} may import only the folders before it: ${order.slice(0, at).join(', ') || 'none'}.`,
      };
      const bans = [...always, ...outside(half, room, depth + 1), later];
      const files = `src/${path}/${folder}/${'*/'.repeat(depth)}*`;
      return [
        { files: [`${files}.ts`], rules: ban([...bans, ...adapterBans(room)]) },
        { files: [`${files}.routes.ts`], rules: ban([...bans, noStore]) },
      ];
    }).flat(),
  ),
);

/** The rooms of `web/src/` and the rooms that each may import. Pages import everything but other pages. */
const webRooms: Record<string, string[]> = {
  lib: [],
  api: ['lib'],
  texts: ['lib', 'api'],
  ui: ['lib', 'api', 'texts'],
  shell: ['lib', 'api', 'texts', 'ui'],
  pages: ['lib', 'api', 'texts', 'ui', 'shell'],
  routes: ['lib', 'api', 'texts', 'ui', 'shell', 'pages'],
};
const webOverrides = Object.entries(webRooms).flatMap(([room, allowed]) =>
  [0, 1, 2].map((depth) => {
    const others = Object.keys(webRooms).filter((other) => other !== room && !allowed.includes(other));
    const up = String.raw`\.\./`;
    const bans: Ban[] = [
      ...always,
      {
        regex: `^${up.repeat(depth + 1)}(${others.join('|') || '-'})/`,
        message: `web/${room} may import only: ${allowed.join(', ') || 'nothing outside itself'}.`,
      },
      { regex: '/src/', message: 'The console knows the service by its API alone.' },
    ];
    if (room === 'pages' && depth > 0)
      bans.push({ regex: `^${up.repeat(depth)}[a-z]`, message: 'A page imports no other page. Share in ui/ or lib/.' });
    return { files: [`web/src/${room}/${'*/'.repeat(depth)}*.{ts,tsx}`], rules: ban(bans) };
  }),
);

export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node', 'promise'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
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
    // The rule is about browser windows; threads have no origin.
    'unicorn/require-post-message-target-origin': 'off',
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
  },
  // A later entry overrides an earlier one.
  overrides: [
    ...roomOverrides,
    ...folderOverrides,
    ...webOverrides,
    // Commands print through src/cli/support/output.ts, which escapes control characters.
    { files: ['src/**/*.ts'], rules: { 'no-console': 'error' } },
    { files: ['src/cli/support/output.ts', 'src/**/*.test.ts'], rules: { 'no-console': 'off' } },
    {
      files: ['packages/client/src/**/*.ts'],
      rules: ban([
        ...always,
        { regex: String.raw`^(\.\./|node:)`, message: 'The client knows the service by its API alone.' },
      ]),
    },
    {
      files: ['{src,packages}/**/*.test.ts', '{test,bench,faults,fuzz,soak}/**/*.ts'],
      rules: { ...ban([always[0]!]), 'max-lines': 'off', 'max-params': 'off', 'node/no-process-env': 'off' },
    },
    {
      files: ['src/config.ts', 'web/vite.config.ts', 'site/.vitepress/config.ts', 'vitest.config.ts', 'bin/tocsin.mjs'],
      rules: { 'node/no-process-env': 'off' },
    },
  ],
  ignorePatterns: [
    'node_modules',
    'web/dist',
    'web/src/api/schema.d.ts',
    'packages/client/src/schema.d.ts',
    'openapi.json',
  ],
};
