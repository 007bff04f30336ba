/** An in-memory model of the documented life cycle. The test compares the service with it after each command. */

export type LifeCycleInput = {
  name?: string;
  description?: string | null;
  siemType?: string | null;
  toolNames?: readonly string[] | null;
  tags?: readonly string[];
  detectionCadence?: 'hourly' | 'daily' | null;
  customCronSchedule?: string | null;
  enabled?: boolean;
};

export type ModelGap = { from: number; to: number; reason: string };
/** `boundary` is the end of the last planned window, `since` the time of the last schedule change, `queued` whether a scheduled run is waiting. */
export type TimeLine = { active: boolean; cron: string | null; start: number; boundary: number; since: number; queued: boolean; gaps: ModelGap[] }; // prettier-ignore

export type DetectionModel = {
  id: string;
  visible: {
    name: string;
    description: string;
    siemType: string | null;
    toolNames: readonly string[];
    tags: string[];
    isSuggestion: boolean;
    enabled: boolean;
    cronSchedule: string | null;
    deletedAt: string | null;
  };
  cadence: 'hourly' | 'daily' | null;
  custom: string | null;
  enabledBefore: boolean;
  timeLine: TimeLine | null;
  /** A manually requested run is waiting. */
  hasManualRun: boolean;
  /** The record that the service returned last. */
  record: unknown;
};

const hour = 3_600_000;
const crons = { hourly: '0 * * * *', daily: '0 0 * * *' };

/** Returns the last slot at or before `now`. The crons of this test are hourly at some minute, or daily at midnight. */
function lastSlot(cron: string, now: number): number {
  if (cron === crons.daily) return Math.floor(now / (24 * hour)) * 24 * hour;
  const minuteMs = Number(cron.split(' ')[0]) * 60_000;
  return Math.floor((now - minuteMs) / hour) * hour + minuteMs;
}

export function createModel(
  id: string,
  isSuggestion: boolean,
  input: LifeCycleInput,
  now: number,
): DetectionModel | 400 {
  const blank = { name: '', description: '', siemType: null, toolNames: [], tags: [], isSuggestion, enabled: false, cronSchedule: null, deletedAt: null }; // prettier-ignore
  const entry: DetectionModel = { id, visible: blank, cadence: null, custom: null, enabledBefore: false, timeLine: null, hasManualRun: false, record: null }; // prettier-ignore
  return applyInput(entry, input, now);
}

/** Applies the fields of a create or update body. Null resets a field, and an absent field is unchanged. */
export function applyInput(entry: DetectionModel, input: LifeCycleInput, now: number): DetectionModel | 400 {
  const { visible } = entry;
  const cadence = input.detectionCadence === undefined ? entry.cadence : input.detectionCadence;
  const custom = input.customCronSchedule === undefined ? entry.custom : input.customCronSchedule;
  const cronSchedule = custom ?? (cadence === null ? null : crons[cadence]);
  if (input.enabled === true && cronSchedule === null) return 400;
  const enabledByDefault = visible.cronSchedule === null ? true : visible.enabled;
  const enabled = cronSchedule !== null && (input.enabled ?? enabledByDefault);
  const next = {
    ...visible,
    name: input.name ?? visible.name,
    description: input.description === undefined ? visible.description : (input.description ?? ''),
    siemType: input.siemType === undefined ? visible.siemType : input.siemType,
    toolNames: input.toolNames === undefined ? visible.toolNames : (input.toolNames ?? []),
    tags: input.tags === undefined ? visible.tags : [...new Set(input.tags.map((tag) => tag.toLowerCase()))],
    cronSchedule,
    enabled,
  };
  return updateTimeLine({ ...entry, cadence, custom, visible: next }, now, 'disabled');
}

type Transition = (entry: DetectionModel, now: number, input: LifeCycleInput) => DetectionModel | 400 | 409;
const toIso = (now: number): string => new Date(now).toISOString();
const dismiss = (entry: DetectionModel, now: number): DetectionModel => ({ ...entry, visible: { ...entry.visible, deletedAt: toIso(now) } }); // prettier-ignore

/** Returns the expected state after each operation, or the entry itself if it is already in the target state. */
export const transitions = {
  update: (entry, now, input) => (entry.visible.deletedAt ? 409 : applyInput(entry, input, now)),
  accept: (entry, now, input) => {
    if (entry.visible.deletedAt) return 409;
    if (!entry.visible.isSuggestion) return entry;
    return applyInput({ ...entry, visible: { ...entry.visible, isSuggestion: false } }, input, now);
  },
  dismiss: (entry, now) => {
    if (!entry.visible.isSuggestion) return 409;
    return entry.visible.deletedAt ? entry : dismiss(entry, now);
  },
  delete: (entry, now) => {
    const { visible } = entry;
    if (visible.deletedAt) return entry;
    if (visible.isSuggestion) return dismiss(entry, now);
    const deleted = { ...visible, deletedAt: toIso(now), enabled: false };
    return updateTimeLine(
      { ...entry, enabledBefore: visible.enabled, visible: deleted, hasManualRun: false },
      now,
      'deleted',
    );
  },
  restore: (entry, now) => {
    const { visible } = entry;
    if (!visible.deletedAt) return entry;
    const enabled = visible.isSuggestion ? visible.enabled : entry.enabledBefore;
    return updateTimeLine({ ...entry, visible: { ...visible, deletedAt: null, enabled } }, now, 'deleted');
  },
} satisfies Record<string, Transition>;

/** Updates the schedule. When a detection becomes active again, the inactive time becomes a gap with this reason. */
function updateTimeLine(entry: DetectionModel, now: number, reason: string): DetectionModel {
  const { isSuggestion, cronSchedule: cron, enabled } = entry.visible;
  if (isSuggestion) return entry;
  const { timeLine } = entry;
  if (!timeLine) {
    if (cron === null) return entry;
    const start = lastSlot(cron, now);
    return {
      ...entry,
      timeLine: { active: enabled, cron, start, boundary: start, since: now, queued: false, gaps: [] },
    };
  }
  if (timeLine.cron === cron && timeLine.active === enabled) return entry;
  const next: TimeLine = { ...timeLine, active: enabled && cron !== null, cron, since: now };
  if (!next.active) return { ...entry, timeLine: { ...next, queued: false } };
  if (timeLine.active) return { ...entry, timeLine: next };
  const to = lastSlot(cron!, now);
  if (to <= timeLine.boundary) return { ...entry, timeLine: next };
  return {
    ...entry,
    timeLine: { ...next, boundary: to, gaps: appendGap(timeLine.gaps, { from: timeLine.boundary, to, reason }) },
  };
}

/** Adds a gap, or extends the adjacent gap with the same reason. */
function appendGap(gaps: ModelGap[], gap: ModelGap): ModelGap[] {
  const adjacent = gaps.find(({ to, reason }) => to === gap.from && reason === gap.reason);
  if (!adjacent) return [...gaps, gap];
  return gaps.map((other) => (other === adjacent ? { ...other, to: gap.to } : other));
}

/** Returns the time line after the scheduler has run: the newest due slot is queued. */
export function planDueSlot(timeLine: TimeLine | null, now: number): TimeLine | null {
  if (!timeLine?.active) return timeLine;
  const slot = lastSlot(timeLine.cron!, now);
  return slot > timeLine.since ? { ...timeLine, queued: true, boundary: Math.max(slot, timeLine.boundary) } : timeLine;
}
