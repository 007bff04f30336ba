/** The life cycle of spec and docs, in memory: what the service is held against after each step. */

export type Input = {
  name?: string;
  description?: string | null;
  siemType?: string | null;
  toolNames?: readonly string[] | null;
  tags?: readonly string[];
  detectionCadence?: 'hourly' | 'daily' | null;
  customCronSchedule?: string | null;
  enabled?: boolean;
};

export type Gap = { from: number; to: number; reason: string };
/** `boundary` ends the last planned window, `since` is when the schedule was last changed, `queued` whether a run of its waits. */
export type Line = { active: boolean; cron: string | null; start: number; boundary: number; since: number; queued: boolean; gaps: Gap[] }; // prettier-ignore

export type Entry = {
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
  line: Line | null;
  /** A run that was asked for by hand waits. */
  manual: boolean;
  /** The record as the service last answered it. */
  record: unknown;
};

const hour = 3_600_000;
const crons = { hourly: '0 * * * *', daily: '0 0 * * *' };

/** The last slot at or before: the crons of these walks are hourly at some minute, or daily at midnight. */
function lastSlot(cron: string, now: number): number {
  if (cron === crons.daily) return Math.floor(now / (24 * hour)) * 24 * hour;
  const shift = Number(cron.split(' ')[0]) * 60_000;
  return Math.floor((now - shift) / hour) * hour + shift;
}

export function newEntry(id: string, isSuggestion: boolean, input: Input, now: number): Entry | 400 {
  const blank = { name: '', description: '', siemType: null, toolNames: [], tags: [], isSuggestion, enabled: false, cronSchedule: null, deletedAt: null }; // prettier-ignore
  const entry: Entry = { id, visible: blank, cadence: null, custom: null, enabledBefore: false, line: null, manual: false, record: null }; // prettier-ignore
  return changed(entry, input, now);
}

/** An update, or what a new one is made of: null clears, absent stays. */
export function changed(entry: Entry, input: Input, now: number): Entry | 400 {
  const { visible } = entry;
  const cadence = input.detectionCadence === undefined ? entry.cadence : input.detectionCadence;
  const custom = input.customCronSchedule === undefined ? entry.custom : input.customCronSchedule;
  const cronSchedule = custom ?? (cadence === null ? null : crons[cadence]);
  if (input.enabled === true && cronSchedule === null) return 400;
  const kept = visible.cronSchedule === null ? true : visible.enabled;
  const enabled = cronSchedule !== null && (input.enabled ?? kept);
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
  return followed({ ...entry, cadence, custom, visible: next }, now, 'disabled');
}

type Step = (entry: Entry, now: number, input: Input) => Entry | 400 | 409;
const at = (now: number): string => new Date(now).toISOString();
const dismissed = (entry: Entry, now: number): Entry => ({ ...entry, visible: { ...entry.visible, deletedAt: at(now) } }); // prettier-ignore

/** What each operation makes of an entry; the same entry where the state already holds. */
export const steps = {
  update: (entry, now, input) => (entry.visible.deletedAt ? 409 : changed(entry, input, now)),
  accept: (entry, now, input) => {
    if (entry.visible.deletedAt) return 409;
    if (!entry.visible.isSuggestion) return entry;
    return changed({ ...entry, visible: { ...entry.visible, isSuggestion: false } }, input, now);
  },
  dismiss: (entry, now) => {
    if (!entry.visible.isSuggestion) return 409;
    return entry.visible.deletedAt ? entry : dismissed(entry, now);
  },
  delete: (entry, now) => {
    const { visible } = entry;
    if (visible.deletedAt) return entry;
    if (visible.isSuggestion) return dismissed(entry, now);
    const gone = { ...visible, deletedAt: at(now), enabled: false };
    return followed({ ...entry, enabledBefore: visible.enabled, visible: gone, manual: false }, now, 'deleted');
  },
  restore: (entry, now) => {
    const { visible } = entry;
    if (!visible.deletedAt) return entry;
    const enabled = visible.isSuggestion ? visible.enabled : entry.enabledBefore;
    return followed({ ...entry, visible: { ...visible, deletedAt: null, enabled } }, now, 'deleted');
  },
} satisfies Record<string, Step>;

/** The schedule after a step: the time away of one that comes back is a gap of `reason`. */
function followed(entry: Entry, now: number, reason: string): Entry {
  const { isSuggestion, cronSchedule: cron, enabled } = entry.visible;
  if (isSuggestion) return entry;
  const { line } = entry;
  if (!line) {
    if (cron === null) return entry;
    const start = lastSlot(cron, now);
    return { ...entry, line: { active: enabled, cron, start, boundary: start, since: now, queued: false, gaps: [] } };
  }
  if (line.cron === cron && line.active === enabled) return entry;
  const next: Line = { ...line, active: enabled && cron !== null, cron, since: now };
  if (!next.active) return { ...entry, line: { ...next, queued: false } };
  if (line.active) return { ...entry, line: next };
  const to = lastSlot(cron!, now);
  if (to <= line.boundary) return { ...entry, line: next };
  return { ...entry, line: { ...next, boundary: to, gaps: joined(line.gaps, { from: line.boundary, to, reason }) } };
}

function joined(gaps: Gap[], gap: Gap): Gap[] {
  const before = gaps.find(({ to, reason }) => to === gap.from && reason === gap.reason);
  return before ? gaps.map((one) => (one === before ? { ...one, to: gap.to } : one)) : [...gaps, gap];
}

/** What the scheduler does with a line by then: the newest slot that is due waits to be run. */
export function planned(line: Line | null, now: number): Line | null {
  if (!line?.active) return line;
  const slot = lastSlot(line.cron!, now);
  return slot > line.since ? { ...line, queued: true, boundary: Math.max(slot, line.boundary) } : line;
}
