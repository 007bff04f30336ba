import type { ChangeRequest } from '../../support/change-request.ts';

export const platformRequests: ChangeRequest[] = [
  {
    addition: 'kind of enricher',
    edits: {
      'src/platform/enrichment/enricher-kinds.ts': [['enricherKinds = { dns,', 'enricherKinds = { fake: {}, dns,']],
    },
    compiler: {
      'src/platform/enrichment/enricher-kinds.ts': "missing the following properties from type 'EnricherKindDefinition",
    },
    suites: { 'docs/guide/enrich.md': 'src/platform/enrichment/enrichers.test.ts' },
  },
  {
    addition: 'model provider',
    edits: {
      'src/platform/models/providers.ts': [
        ['  openai: define({', '  fake: define({ settings: secret }),\n  openai: define({'],
      ],
    },
    compiler: { 'src/platform/models/providers.ts': "missing the following properties from type 'Provider<" },
    suites: {
      'docs/guide/connect-a-model.md': 'src/platform/models/models.test.ts',
      'test/support/models/provider-servers.ts': 'src/platform/models/conformance.test.ts',
    },
  },
  {
    addition: 'scope',
    edits: { 'src/platform/http/caller.ts': [["  'feed:admin',", "  'feed:admin',\n  'fake:read',"]] },
    compiler: {},
    suites: { 'web/src/texts/scopes.ts': 'src/platform/orgs/credentials.test.ts' },
  },
];
