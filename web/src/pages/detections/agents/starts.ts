import type { Agent } from '../../../api/agents.ts';
import { nameTrigger, texts } from '../../../texts/agents.ts';

type Start = { id: string; label: string; enabled: boolean };

/** Returns what starts runs of an agent besides people: its schedule, if it has one, and its triggers. */
export const listStarts = ({ triggerSummary, cronSchedule }: Agent): Start[] =>
  triggerSummary
    .filter(({ source }) => source !== 'cron' || cronSchedule !== null)
    .map((trigger) => ({
      id: trigger.id,
      enabled: trigger.enabled,
      label: trigger.source === 'cron' ? texts.sources.cron : nameTrigger(trigger),
    }));
