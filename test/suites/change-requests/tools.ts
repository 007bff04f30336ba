import type { ChangeRequest } from '../../support/change-request.ts';

export const toolRequests: ChangeRequest[] = [
  {
    addition: 'tool for models',
    edits: {
      'src/detection/tools/tools.ts': [['  get_rows: getRows', '  fake_tool: {},\n  get_rows: getRows']],
    },
    compiler: { 'src/detection/tools/tools.ts': "missing the following properties from type 'ToolDefinition" },
    suites: { 'docs/guide/tools.md': 'src/detection/tools/tools.test.ts' },
  },
];
