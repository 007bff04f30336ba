import { nearestNames } from './text/nearest-names.ts';

const prefix = 'TOCSIN_';

/** Variables that only tests and measurements read. */
const development = /^TOCSIN_(TEST_\w+|PROPERTY_SEED|REHEARSE|INJECTION)$/;

/** Returns whether Kubernetes sets the variable for a service whose name begins with `tocsin`, such as `TOCSIN_PORT=tcp://10.0.0.1:80`. */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(value);

/**
 * Throws an error that lists the variables that begin with `TOCSIN_` and are not among `known`, with or without `_FILE`. Otherwise a mistyped setting would have
 * no effect, and nobody would notice.
 */
export function rejectUnknownSettings(env: Record<string, string | undefined>, known: string[]): void {
  const unknown = Object.entries(env).filter(
    ([name, value = '']) =>
      name.startsWith(prefix) &&
      !known.includes(name.replace(/_FILE$/, '')) &&
      !development.test(name) &&
      !isServiceLink(name, value),
  );
  if (unknown.length > 0) throw new Error(unknown.map(([name]) => describeUnknown(name, known)).join('; '));
}

function describeUnknown(name: string, known: string[]): string {
  const byShortName = new Map(known.map((one) => [one.replace(prefix, ''), one]));
  const shortName = name.replace(prefix, '');
  // Some settings have no prefix.
  const nearest = byShortName.has(shortName) ? shortName : nearestNames(shortName, byShortName.keys())[0];
  const advice = nearest === undefined ? 'Remove it.' : `Did you mean ${byShortName.get(nearest)}?`;
  return `${name}: no setting has this name. ${advice}`;
}
