import { appError } from '../../platform/lib/errors.ts';

export const taxiiType = 'application/taxii+json;version=2.1';

/** Whether an Accept header takes the media type of TAXII 2.1, with its version or any. Throws a 406 where it does not (section 1.6.8). */
export function checkAccept(header: string | undefined): void {
  if (header === undefined || header.trim() === '') return;
  const takes = header
    .slice(0, 1_000)
    .split(',')
    .some((range) => {
      const [type = '', ...parameters] = range
        .toLowerCase()
        .split(';')
        .map((part) => part.trim());
      const version = parameters.find((parameter) => parameter.startsWith('version='));
      if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return false;
      if (type === '*/*' || type === 'application/*') return true;
      return (
        type === 'application/taxii+json' && (version === undefined || version.replaceAll('"', '') === 'version=2.1')
      );
    });
  if (!takes) throw appError('not_acceptable', `This server answers with ${taxiiType}.`);
}
