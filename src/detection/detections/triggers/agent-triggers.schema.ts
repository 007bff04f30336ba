import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { severities } from '../../analysis/candidate.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import { triggerSources } from '../record/detection.schema.ts';

export type TriggerSource = (typeof triggerSources)[number];

const Id = IdPath.shape.id;
const time = z.string().meta({ format: 'date-time' });

/** Where a trigger gets the value of an input from: a fixed value, or a place in the event. */
const InputSource = z.union([
  z.strictObject({ value: z.union([z.string().max(20_000), z.number(), z.boolean()]) }),
  z.strictObject({
    from: boundedString({ min: 1, max: 500 }).describe(
      'JSON pointer into the event, such as `/entity` of a hit. A hit has the fields of `GET /api/hits`, an incident those of `GET /api/incidents`, a webhook those of its body.',
    ),
  }),
]);

export const TriggerFilter = z
  .strictObject({
    severity: z.enum(severities).optional().describe('The lowest severity of a hit or an incident.'),
    detections: z.array(Id).min(1).max(100).optional().describe('IDs of detections.'),
    tags: z
      .array(boundedString({ min: 1, max: 100 }))
      .min(1)
      .max(100)
      .optional()
      .describe('The detection has one of these tags.'),
    entityTypes: z
      .array(boundedString({ min: 1, max: 100 }))
      .min(1)
      .max(20)
      .optional(),
  })
  .describe(
    'Which events start a run. All conditions must be met, for an incident by one of its hits. With {}, every event does.',
  );

const fields = {
  name: boundedString({ min: 1, max: 255 }),
  enabled: z.boolean(),
  filter: TriggerFilter,
  inputs: z
    .record(boundedString({ min: 1, max: 255 }), InputSource)
    .describe('What the inputs of the agent are set to.'),
  about: z
    .enum(['hit', 'incident'])
    .describe(
      'What a run is about that an incident starts: its most severe hit, or all of its hits. What the latter proves is the story of the incident.',
    ),
  runsPerHourMax: z
    .int()
    .min(1)
    .max(1000)
    .describe('How many runs the trigger may start in an hour. Further events start none and are counted as skipped.'),
};

export const TriggerSettings = z.strictObject({
  filter: fields.filter.default({}),
  inputs: fields.inputs.default({}),
  about: fields.about.default('hit'),
  runsPerHourMax: fields.runsPerHourMax.default(60),
});
export type TriggerSettings = z.infer<typeof TriggerSettings>;

export const CreateTrigger = z.strictObject({
  source: z
    .enum(triggerSources)
    .exclude(['cron'])
    .describe(
      '`incident.updated`: an incident has other hits than before. Of what people decide about it, only closing starts a run (`incident.closed`).',
    ),
  name: fields.name.optional(),
  enabled: fields.enabled.default(true),
  ...TriggerSettings.shape,
});
export type CreateTrigger = z.infer<typeof CreateTrigger>;

export const UpdateTrigger = z
  .strictObject({
    ...fields,
    rotateSecret: z.literal(true).describe('Replaces the secret of a webhook. The old one is no longer valid.'),
  })
  .partial();
export type UpdateTrigger = z.infer<typeof UpdateTrigger>;

/** A record of the values that the runs of a schedule are given. */
export const SetSchedule = z.strictObject({
  inputs: z
    .record(z.string().max(255), z.union([z.string().max(20_000), z.number(), z.boolean()]))
    .describe('Values of the inputs that the agent declares, for every run of its schedule. A date is ISO 8601 text.'),
});
export type SetSchedule = z.infer<typeof SetSchedule>;

export const AgentSchedule = SetSchedule.extend({
  triggerId: z.string().describe('Its id in `triggerSummary`.'),
  enabled: z.boolean().describe('Whether the agent has a schedule and is enabled. Change it at the agent.'),
  updatedAt: time,
});
export type AgentSchedule = z.infer<typeof AgentSchedule>;

export const TriggerPath = z.object({ id: Id, triggerId: Id });

export const AgentTrigger = z
  .object({
    id: z.string(),
    agentId: z.string(),
    source: CreateTrigger.shape.source,
    ...fields,
    skipped: z.int().describe('Events that started no run because of `runsPerHourMax`.'),
    secret: z
      .string()
      .optional()
      .describe('Signs the calls of a webhook. Only in the response that creates or replaces it.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'AgentTrigger' });
export type AgentTrigger = z.infer<typeof AgentTrigger>;

export const AgentTriggerList = z.object({ triggers: z.array(AgentTrigger) });
export type AgentTriggerList = z.infer<typeof AgentTriggerList>;
