import type { EngineLane } from './engine-lane.ts';

/** The lanes of all organizations, which share a number of processes. */
export type EngineLanes = {
  /** By organization, in the order in which they start tasks. */
  lanes: Map<string, EngineLane>;
  processesMax: number;
  /** Creates the lane of an organization, which calls `onChange` whenever another task might be able to start. */
  openLane: (organization: string, onChange: () => void) => EngineLane;
  isClosed: boolean;
  /** Starts tasks again when the longest turn may end. */
  turnTimer: NodeJS.Timeout | undefined;
};

/** How long an engine runs at least before it makes room for another organization's. */
const turnMs = 500;

/** Returns the number of running processes. */
export const countProcesses = ({ lanes }: EngineLanes): number =>
  [...lanes.values()].reduce((sum, lane) => sum + lane.processCount(), 0);

/** Returns the lane of an organization, and opens it if it is not open. */
export function findOrOpenLane(state: EngineLanes, organization: string): EngineLane {
  const existing = state.lanes.get(organization);
  if (existing) return existing;
  const lane = state.openLane(organization, () => startTasks(state));
  state.lanes.set(organization, lane);
  return lane;
}

/** Starts waiting tasks of all organizations as far as there are processes. */
export function startTasks(state: EngineLanes): void {
  if (state.isClosed) return;
  // A copy, because `makeRoom` may move lanes to the end of the order.
  const inOrder = [...state.lanes.values()];
  for (const lane of inOrder) while (lane.canStart() && (lane.hasEngine() || makeRoom(state))) lane.start();
}

/** Retires the engines that have been idle since before a time in monotonic milliseconds, and closes lanes with nothing to do. */
export function retireIdle({ lanes }: EngineLanes, before: number): void {
  for (const [organization, lane] of lanes) {
    const since = lane.idleSince();
    if (since !== undefined && since < before) lane.retire();
    if (lane.processCount() === 0 && lane.queue.length === 0) lanes.delete(organization);
  }
}

/** Starts no more tasks, and closes all lanes. */
export function closeLanes(state: EngineLanes): void {
  state.isClosed = true;
  clearTimeout(state.turnTimer);
  for (const lane of state.lanes.values()) lane.close();
}

/** Returns whether another process can be started. If not, retires one, whose end calls `startTasks` again. */
function makeRoom(state: EngineLanes): boolean {
  if (countProcesses(state) < state.processesMax) return true;
  const idle = [...state.lanes.values()].filter((lane) => lane.idleSince() !== undefined);
  if (idle.length > 0) idle.toSorted((a, b) => a.idleSince()! - b.idleSince()!)[0]!.retire();
  else endLongestTurn(state);
  return false;
}

/** Retires the engine that has run longest, so that organizations with constant load do not lock out the others. */
function endLongestTurn(state: EngineLanes): void {
  const { lanes } = state;
  const isAnyRetiring = [...lanes.values()].some((lane) => lane.processCount() > (lane.hasEngine() ? 1 : 0));
  if (isAnyRetiring) return;
  const [longest] = [...lanes].toSorted((a, b) => a[1].startedAt() - b[1].startedAt());
  if (!longest) return;
  const [organization, lane] = longest;
  const waitMs = lane.startedAt() + turnMs - performance.now();
  if (waitMs > 0) {
    state.turnTimer ??= setTimeout(() => {
      state.turnTimer = undefined;
      startTasks(state);
    }, waitMs).unref();
    return;
  }
  lane.retire();
  // Move the lane to the end of the order in which lanes start tasks.
  lanes.delete(organization);
  lanes.set(organization, lane);
}
