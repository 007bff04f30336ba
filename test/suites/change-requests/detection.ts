import type { ChangeRequest } from '../../support/change-request.ts';

const everyCategory = 'src/detection/analysis/every-category.test.ts';

export const detectionRequests: ChangeRequest[] = [
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
