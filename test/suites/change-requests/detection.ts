import type { ChangeRequest } from '../../support/change-request.ts';

const everyCategory = 'src/detection/analysis/every-category.test.ts';

const everyConnector = 'src/detection/siem/connectors/every-connector.test.ts';

export const detectionRequests: ChangeRequest[] = [
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
