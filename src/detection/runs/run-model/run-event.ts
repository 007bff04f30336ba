import type { InputValues } from '../../detections/record/input-values.ts';
import type { TriggerSource } from '../../detections/triggers/agent-triggers.schema.ts';

/** What started a run: a person (`manual`) or a trigger. `hitId` is the hit that a response agent looks into. */
export type RunEvent = {
  source: 'manual' | TriggerSource;
  triggerId: string | null;
  hitId: string | null;
  inputs: InputValues;
};
