import { uuidv7 } from '../../../platform/lib/ids.ts';
import { checkTuning } from '../record/check-tuning.ts';
import { checkLookback, isEnabledAfter, zonedCron } from '../record/cron-schedule.ts';
import type { AgentView } from '../record/detection-row.ts';
import { toColumns } from '../record/field-conversion.ts';
import type { ColumnInput } from '../record/field-types.ts';

type MergeInput = ColumnInput & { systemPrompt?: string | undefined; enabled?: boolean | undefined };

/** Returns the agent after an update. Absent fields are unchanged. Throws 400 if the resulting fields contradict each other. */
export function mergeUpdate(before: AgentView, input: MergeInput, now: Date): AgentView {
  const after: AgentView = {
    ...before,
    ...toColumns(withoutUnchangedCron(before, input), now),
    ...nextPromptVersion(before, input.systemPrompt, now),
  };
  const [cronBefore, cron] = [zonedCron(before), zonedCron(after)];
  after.enabled = isEnabledAfter({ cron: cronBefore, enabled: before.enabled }, cron, input.enabled);
  if (after.enabled) after.disabled_reason = null;
  if (cron !== cronBefore || after.lookback_minutes !== before.lookback_minutes) checkLookback(after);
  checkTuning(after);
  return after;
}

/** Skips the validation of a cron expression that is already stored, since it depends on the current time. */
function withoutUnchangedCron(before: AgentView, input: ColumnInput): ColumnInput {
  const isUnchanged = input.customCronSchedule === before.custom_cron_schedule;
  return isUnchanged ? { ...input, customCronSchedule: undefined } : input;
}

/** Prompt versions are immutable, so a new text becomes the next version and the active one. */
function nextPromptVersion(before: AgentView, prompt: string | undefined, now: Date): Partial<AgentView> {
  if (prompt === undefined || prompt === before.prompt) return {};
  const version = before.latest_prompt_version + 1;
  return {
    prompt,
    active_prompt_id: uuidv7(now),
    prompt_version: version,
    latest_prompt_version: version,
    prompt_description: '',
    prompt_created_at: now,
  };
}
