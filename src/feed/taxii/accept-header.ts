import { appError } from '../../platform/lib/errors.ts';

export const taxiiType = 'application/taxii+json;version=2.1';

/** Throws a 406 if an Accept header does not accept the media type of TAXII 2.1, with or without its version (section 1.6.8). */
export function checkAccept(header: string | undefined): void {
  if (header === undefined || header.trim() === '') return;
  const isAccepted = header.slice(0, 1_000).split(',').some(acceptsTaxii);
  if (!isAccepted) throw appError('not_acceptable', `The Accept header must accept ${taxiiType}.`);
}

function acceptsTaxii(range: string): boolean {
  const [type = '', ...parameters] = range
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return false;
  if (type === '*/*' || type === 'application/*') return true;
  const version = parameters.find((parameter) => parameter.startsWith('version='));
  return type === 'application/taxii+json' && (version === undefined || version.replaceAll('"', '') === 'version=2.1');
}
