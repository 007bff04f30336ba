import { z } from 'zod';
import type { HitContext } from '../../context/context.schema.ts';
import type { EntityNoteList } from '../../../detection/entities/entities.schema.ts';
import { hitStatuses, type HitDetail, type HitList } from '../../../detection/hits/hits.schema.ts';
import { severities } from '../../../feed/model/vocabulary.ts';
import { defineTool, pick, withQuery, cursorInput, idInput, limitInput, textInput, timeInput } from './tool.ts';

const summaryFields = [
  'id',
  'detectionId',
  'entity',
  'entityType',
  'severity',
  'confidence',
  'headline',
  'status',
  'revision',
  'judged',
  'verdict',
  'openQuestion',
  'claims',
  'occurrenceCount',
  'firstSeenAt',
  'lastSeenAt',
  'url',
] as const;

export const hitTools = [
  defineTool({
    name: 'search_hits',
    title: 'Search hits',
    description:
      'Lists what the detections found, newest first. Filter by text, status, severity, detection, entity or time. Use explain_hit for the evidence of one.',
    scopes: ['hits:read'],
    input: z.strictObject({
      text: textInput(500, 'Part of the headline or of the entity, in any case.').optional(),
      entity: textInput(1000, 'Exact name of an entity, such as a user or a host.').optional(),
      status: z.enum(hitStatuses).optional().describe('`open` hits wait for a decision.'),
      severity: z.enum(severities).optional(),
      detection: idInput('detection').optional(),
      from: timeInput('Hits last seen at or after this time.').optional(),
      to: timeInput('Hits first seen before this time.').optional(),
      limit: limitInput(20),
      cursor: cursorInput,
    }),
    run: async (callApi, { text, ...filters }) => {
      const { hits, nextCursor } = await callApi<HitList>('GET', withQuery('/api/hits', { q: text, ...filters }));
      return {
        hits: hits.map((hit) => ({ ...pick(hit, summaryFields), detection: hit.detection.name })),
        nextCursor,
      };
    },
  }),
  defineTool({
    name: 'explain_hit',
    title: 'Explain a hit',
    description:
      'Returns a hit with its evidence: the verdict with the cells of log rows that each claim cites, claims that were struck because no row supports them, the facts beside the baseline, the rows, earlier decisions on similar hits, other hits of the entity, notes on it, feed items that share an indicator, and the time line.',
    scopes: ['hits:read'],
    input: z.strictObject({ id: idInput('hit') }),
    run: async (callApi, { id }) => {
      const [{ runs: _, ...hit }, context] = await Promise.all([
        callApi<HitDetail>('GET', `/api/hits/${id}`),
        callApi<HitContext>('GET', `/api/hits/${id}/context`),
      ]);
      return { hit, context };
    },
  }),
  defineTool({
    name: 'list_entity_notes',
    title: 'List notes on an entity',
    description:
      'Lists what people have written down about an entity, such as who owns a host or what an account is for.',
    scopes: ['detections:read'],
    input: z.strictObject({ entity: textInput(1000, 'Name of the entity, in any case.') }),
    run: (callApi, { entity }) => callApi<EntityNoteList>('GET', withQuery('/api/entity-notes', { entity })),
  }),
];
