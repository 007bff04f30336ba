import { ModelError } from '../../../platform/models/model-error.ts';
import { SiemError } from '../../siem/connector.ts';
import type { RunFailure } from '../run-types.ts';

/** Back-off between attempts of one slot, in milliseconds; together well under the hour that slots are at least apart. */
const retryPausesMs = [5_000, 15_000, 45_000, 135_000, 300_000];
const messageMax = 2000;

/** What a run says of an error: a connection's or a model's own account, or, for anything unexpected, that it is ours. */
export function failureOf(error: unknown): RunFailure {
  if (error instanceof SiemError || error instanceof ModelError) {
    const { kind, blame, retryable, message } = error.failure;
    return { kind, blame, retryable, message: message.slice(0, messageMax) };
  }
  return {
    kind: 'internal_error',
    blame: 'us',
    retryable: true,
    message: 'An unexpected error ended the run; the log has it under the run id.',
  };
}

export const workerLost: RunFailure = {
  kind: 'worker_lost',
  blame: 'us',
  retryable: false,
  message: 'The run was lost three times: its worker ended or could not renew its lease.',
};

/** How long to wait before the next attempt; undefined: no more attempts. */
export function retryPauseMs(failure: RunFailure, retries: number): number | undefined {
  return failure.retryable ? retryPausesMs[retries] : undefined;
}
