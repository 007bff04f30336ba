import type { ChangeRequest } from '../../support/change-request.ts';

const everyCategory = 'src/detection/analysis/every-category.test.ts';

const everyConnector = 'src/detection/siem/connectors/every-connector.test.ts';

export const detectionRequests: ChangeRequest[] = [
  {
    addition: 'lease length',
    edits: { 'src/detection/scheduling/run-claim.ts': [['leaseMs = 60_000', 'leaseMs = 90_000']] },
    compiler: {},
    suites: { 'docs/reference/runs.md': 'src/detection/runs/workers/lease-documentation.test.ts' },
  },
  {
    addition: 'retention of hits',
    edits: { 'src/settings.ts': [['TOCSIN_KEEP_HITS_DAYS: integer(365,', 'TOCSIN_KEEP_HITS_DAYS: integer(400,']] },
    compiler: {},
  },
  {
    addition: 'wording of the analyst',
    edits: {
      'src/detection/analysis/category.ts': [
        ['  evidenceNote: string;', '  evidenceNote: string;\n  fakeText: string;'],
      ],
    },
    compiler: Object.fromEntries(
      ['baseline-anomaly', 'every-entity', 'first-occurrence', 'sequence-pattern'].map((name) => [
        `src/detection/analysis/categories/${name}.ts`,
        "Property 'fakeText' is missing",
      ]),
    ),
  },
  {
    addition: 'shipper',
    edits: {
      'src/detection/shippers/formats/shipper-format.ts': [
        ["  | { kind: 'bulk';", "  | { kind: 'fake' }\n  | { kind: 'bulk';"],
      ],
    },
    compiler: { 'src/detection/shippers/formats/shipper-format.ts': 'lacks ending return statement' },
    suites: { 'src/app/http-server.ts': 'src/detection/shippers/protocols.test.ts' },
  },
  {
    addition: 'field of a detection',
    edits: {
      'src/detection/detections/record/detection-fields.ts': [
        [
          '  budgets: {',
          "  fake: { column: 'fake', input: z.string(), output: z.string(), default: '' },\n  budgets: {",
        ],
      ],
    },
    compiler: {},
    suites: { 'migrations/': 'src/detection/detections/create-detection.test.ts' },
  },
  {
    addition: 'command',
    edits: {
      'src/cli/service-commands.ts': [["  command('", "  command('fake', 'does nothing', {}),\n  command('"]],
    },
    compiler: { 'src/cli/service-commands.ts': "missing the following properties from type '{ args" },
  },
  {
    addition: 'SIEM',
    edits: { 'src/detection/siem/connectors/registry.ts': [['sentinel, splunk }', 'sentinel, splunk, fake: {} }']] },
    compiler: {
      'src/detection/siem/connectors/registry.ts': "missing the following properties from type 'RemoteConnector",
      'src/detection/siem/dialects/hostile-values.test.ts': "Property 'fake' is missing",
      'src/detection/portable-queries/portable-connection.test.ts': "Property 'fake' is missing",
    },
    suites: { 'docs/guide/connections.md': everyConnector, 'docs/guide/sigma.md': everyConnector },
  },
  {
    addition: 'detection category',
    edits: { 'src/detection/analysis/registry.ts': [['  custom,\n', '  custom,\n  fake: {},\n']] },
    compiler: { 'src/detection/analysis/registry.ts': "missing the following properties from type 'Category'" },
    suites: {
      'docs/guide/categories.md': everyCategory,
      'docs/guide/shipped-detections.md': everyCategory,
      'docs/reference/analysis.md': everyCategory,
    },
  },
];
