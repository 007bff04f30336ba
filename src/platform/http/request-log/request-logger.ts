import type { FastifyBaseLogger } from 'fastify';

/** Returns a logger that carries the request id. The child logger is created at the first line, since most requests write none. */
export function createRequestLogger(parent: FastifyBaseLogger, bindings: Record<string, unknown>): FastifyBaseLogger {
  let created: FastifyBaseLogger | undefined;
  const childLogger = (): FastifyBaseLogger => (created ??= parent.child(bindings));
  const logAt =
    (level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace') =>
    (...line: unknown[]): void =>
      (childLogger()[level] as (...line: unknown[]) => void)(...line);
  return {
    level: parent.level,
    silent: () => undefined,
    child: (...args) => childLogger().child(...args),
    fatal: logAt('fatal'),
    error: logAt('error'),
    warn: logAt('warn'),
    info: logAt('info'),
    debug: logAt('debug'),
    trace: logAt('trace'),
  };
}
