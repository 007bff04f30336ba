/** The detections of each of the organizations. */
export type WorkloadSize = { organizations: number; rules: number };

/**
 * A run of at most `faultsMax` faults, and of at most `secondsMax` after the start. `hoursPerRound`: the slots after which the faults pause and
 * the state is checked. `processes`: the tasks of each process.
 */
export type FaultOptions = WorkloadSize & {
  seed: number;
  faultsMax: number;
  secondsMax: number;
  hoursPerRound: number;
  processes: readonly string[];
};
