import { z } from 'zod';
import type { Coverage, CoveredTechnique } from '../../attack-coverage/coverage.schema.ts';
import type { Overview } from '../../overview/overview.schema.ts';
import type { SummaryList } from '../../../detection/detections/summaries/summaries.schema.ts';
import type { GapList } from '../../../detection/runs/run-model/runs.schema.ts';
import { defineTool, pick, withQuery, cursorInput, idInput, limitInput } from './tool.ts';
import { briefDetections } from './detection-tools.ts';

export const postureTools = [
  defineTool({
    name: 'get_overview',
    title: 'Get what needs a person now',
    description:
      'Returns open hits by severity and age, detections that fail, gaps, paused connections and models, waiting suggestions, failing or silent feed sources, and daily figures. Start here for a briefing.',
    scopes: ['detections:read'],
    input: z.strictObject({}),
    run: (callApi) => callApi<Overview>('GET', '/api/overview'),
  }),
  defineTool({
    name: 'get_coverage',
    title: 'Get the ATT&CK coverage',
    description:
      'Without a technique: how many ATT&CK techniques the detections cover, and the techniques that relevant reports of the feed mention, least covered first. With a technique: its detections with how far each can be relied on and why, its sub-techniques, and the newest report.',
    scopes: ['detections:read'],
    input: z.strictObject({
      technique: z
        .string()
        .regex(/^T\d{4}(\.\d{3})?$/, 'must be an ATT&CK technique such as T1059.001')
        .optional(),
      days: z.int().min(1).max(365).default(90).describe('Age of the reports that count.'),
      limit: limitInput(20),
    }),
    run: async (callApi, { technique, days, limit }) => {
      const coverage = await callApi<Coverage>('GET', withQuery('/api/coverage', { days }));
      const { techniques } = coverage;
      if (technique !== undefined)
        return { techniques: techniques.filter(({ id, parentId }) => id === technique || parentId === technique) };
      const threatened = techniques.filter(({ threats }) => threats !== null).toSorted(byNeed);
      return {
        techniques: techniques.length,
        covered: techniques.filter(({ groupScore }) => groupScore > 0).length,
        threatened: threatened.length,
        threatenedAndUncovered: threatened.filter(({ groupScore }) => groupScore === 0).length,
        leastCovered: threatened
          .slice(0, limit)
          .map((row) => pick(row, ['id', 'name', 'groupScore', 'detectionCount', 'threats', 'suggestionIds'])),
      };
    },
  }),
  defineTool({
    name: 'list_gaps',
    title: 'List gaps',
    description:
      'Lists the time that no run of a detection examined, so that an intrusion in it would have been missed, with the reason. Without a detection: totals, and the detections that have gaps.',
    scopes: ['detections:read'],
    input: z.strictObject({ detection: idInput('detection').optional(), limit: limitInput(20), cursor: cursorInput }),
    run: async (callApi, { detection, ...page }) => {
      if (detection !== undefined) return callApi<GapList>('GET', withQuery(`/api/detections/${detection}/gaps`, page));
      const [{ gaps }, summaries] = await Promise.all([
        callApi<Overview>('GET', '/api/overview'),
        callApi<SummaryList>('GET', withQuery('/api/detections/summaries', { health: 'gap', ...page })),
      ]);
      return { gaps, ...briefDetections(summaries) };
    },
  }),
];

/** The least covered first, then the most mentioned. */
const byNeed = (a: CoveredTechnique, b: CoveredTechnique): number =>
  a.groupScore - b.groupScore || (b.threats?.items ?? 0) - (a.threats?.items ?? 0) || a.id.localeCompare(b.id);
