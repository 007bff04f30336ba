import { ModelError } from '../../../../platform/models/model-error.ts';
import { SiemError, type SiemFailure } from '../../../siem/connector.ts';

export type RunFailure = SiemFailure;

/** Delays between attempts of a run, in milliseconds. Their sum is well below one hour, the shortest interval of slots. */
const retryDelaysMs = [5_000, 15_000, 45_000, 135_000, 300_000];
const messageLengthMax = 2000;

/** Returns the failure of a connection or a model as it is, and any other error as an internal error of the service. */
export function toRunFailure(error: unknown): RunFailure {
  if (error instanceof SiemError || error instanceof ModelError) {
    const { kind, blame, retryable, message } = error.failure;
    const failure = { kind, blame, retryable, message: message.slice(0, messageLengthMax) };
    return error instanceof SiemError && error.failure.dependsOnData ? { ...failure, dependsOnData: true } : failure;
  }
  return {
    kind: 'internal_error',
    blame: 'service',
    retryable: true,
    message: 'The run failed with an unexpected error. See the service log for its run ID.',
  };
}

export const workerLostFailure: RunFailure = {
  kind: 'worker_lost',
  blame: 'service',
  retryable: false,
  message: 'The run was lost three times: its worker ended or could not renew its lease.',
};

/** Returns the delay before the next attempt, or undefined if there is none. */
export function retryDelayMs(failure: RunFailure, retries: number): number | undefined {
  return failure.retryable ? retryDelaysMs[retries] : undefined;
}
