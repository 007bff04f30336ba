import type { ChangeRequest } from '../../support/change-request.ts';

export const platformRequests: ChangeRequest[] = [
  {
    addition: 'model provider',
    edits: {
      'src/platform/models/model-settings.ts': [
        [
          "const Entry = z.discriminatedUnion('provider', [",
          "const Entry = z.discriminatedUnion('provider', [\n  z.strictObject({ provider: z.literal('fake'), ...common, ...secret }),",
        ],
      ],
    },
    compiler: { 'src/platform/models/providers.ts': "Property 'fake' is missing" },
    suites: { 'docs/guide/models.md': 'src/platform/models/models.test.ts' },
  },
  {
    addition: 'scope',
    edits: { 'src/platform/http/caller.ts': [["  'feed:admin',", "  'feed:admin',\n  'fake:read',"]] },
    compiler: {},
    suites: { 'web/src/texts/scopes.ts': 'src/platform/orgs/credentials.test.ts' },
  },
];
