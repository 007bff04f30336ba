import type { FastifyBaseLogger } from 'fastify';

/** The logger of a request, which carries its id; made at its first line, since most requests write none. */
export function requestLog(parent: FastifyBaseLogger, bindings: Record<string, unknown>): FastifyBaseLogger {
  let made: FastifyBaseLogger | undefined;
  const own = (): FastifyBaseLogger => (made ??= parent.child(bindings));
  const at =
    (level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace') =>
    (...line: unknown[]): void =>
      (own()[level] as (...line: unknown[]) => void)(...line);
  return {
    level: parent.level,
    silent: () => undefined,
    child: (...given) => own().child(...given),
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
  };
}
