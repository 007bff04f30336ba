import type { FastifyBaseLogger } from 'fastify';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';

/** A logger that keeps the lines of level error and above. */
export type ErrorRecorder = {
  log: FastifyBaseLogger & ReturnType<typeof createLogger>;
  errors: () => unknown[];
  clear: () => void;
};

export function createErrorRecorder(): ErrorRecorder {
  let errors: unknown[] = [];
  const log = createLogger('error');
  const record = (...line: unknown[]): void => void errors.push(line);
  const recording = Object.assign(Object.create(log) as typeof log, {
    error: record,
    fatal: record,
    child: () => recording,
  });
  return { log: recording as ErrorRecorder['log'], errors: () => errors, clear: () => (errors = []) };
}
