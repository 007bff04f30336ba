import { z } from 'zod';
import type { Detection } from '../../../detection/detections/record/detection.schema.ts';
import { detectionHealths, type SummaryList } from '../../../detection/detections/summaries/summaries.schema.ts';
import { SearchInput, type SearchRows } from '../../../detection/connections/connections.schema.ts';
import type { DatasetList } from '../../../detection/log-store/catalog/datasets.schema.ts';
import { GenerateRequest, type GeneratedDetection } from '../../suggestions/generate-detection.schema.ts';
import { defineTool, pick, withQuery, cursorInput, idInput, limitInput, textInput, timeInput } from './tool.ts';

const rowsMax = 200;

export const detectionTools = [
  defineTool({
    name: 'list_detections',
    title: 'List detections',
    description: 'Lists the detections with their health, schedule and hits of the last 30 days.',
    scopes: ['detections:read'],
    input: z.strictObject({
      text: textInput(255, 'Text in the name or the description, in any case.').optional(),
      tag: textInput(200, 'A tag, such as attack.t1059.001.').optional(),
      health: z.enum(detectionHealths).optional(),
      limit: limitInput(20),
      cursor: cursorInput,
    }),
    run: (callApi, { text, ...filters }) =>
      callApi<SummaryList>('GET', withQuery('/api/detections/summaries', { q: text, ...filters })),
  }),
  defineTool({
    name: 'get_detection',
    title: 'Get a detection',
    description: 'Returns a detection with its query, its prompt, its schedule and its figures of the last 30 days.',
    scopes: ['detections:read'],
    input: z.strictObject({ id: idInput('detection') }),
    run: (callApi, { id }) => callApi<Detection>('GET', `/api/detections/${id}`),
  }),
  defineTool({
    name: 'list_datasets',
    title: 'List datasets',
    description:
      'Lists the datasets of the embedded log store with their columns and types. Call it before you write a query. Without a name, it lists names and times only.',
    scopes: ['detections:read'],
    input: z.strictObject({ name: textInput(100, 'Name of a dataset, for its columns.').optional() }),
    run: async (callApi, { name }) => {
      const { datasets } = await callApi<DatasetList>('GET', '/api/logs');
      if (name !== undefined) return { datasets: datasets.filter((dataset) => dataset.name === name) };
      return {
        datasets: datasets.map(({ columns, ...dataset }) => ({ ...dataset, columns: columns.length })),
      };
    },
  }),
  defineTool({
    name: 'preview_query',
    title: 'Preview a query',
    description:
      'Runs a read-only query of a detection over a time window and returns its rows. The embedded store accepts DuckDB SQL over datasets, such as: select * from windows where event_id = 4625. The window is applied by the service, on event time. It takes at most 30 seconds.',
    scopes: ['detections:run'],
    input: z.strictObject({
      query: SearchInput.shape.query,
      from: timeInput('Start of the window.'),
      to: timeInput('End of the window. Not included.'),
      connectionId: idInput('connection').optional().describe('SIEM connection. Default: the embedded store.'),
      limit: z.int().min(1).max(rowsMax).default(20).describe('Most rows to return.'),
    }),
    run: (callApi, input) => callApi<SearchRows>('POST', '/api/logs/search', input),
  }),
  defineTool({
    name: 'draft_detection',
    title: 'Draft a detection',
    description:
      'Drafts a detection for an intent in plain words, from the shipped detections, the templates or the model of the service, and tests it on the logs. Returns its fields and an estimate of the hits per day. Stores nothing, but may use the budget of a model.',
    scopes: ['detections:run'],
    input: GenerateRequest.pick({ intent: true }),
    run: (callApi, { intent }) => callApi<GeneratedDetection>('POST', '/api/detections/generate', { intent }),
  }),
];

/** Returns the fields that identify a detection and its state. */
export const briefDetections = ({ detections, total, nextCursor }: SummaryList) => ({
  total,
  detections: detections.map((detection) => pick(detection, ['id', 'name', 'health', 'openHits', 'lastRunAt'])),
  nextCursor,
});
