import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import { compileExceptions, type Exception, type ExceptionSubject } from '../../analysis/exceptions/exceptions.ts';
import { compilePattern } from '../../analysis/exceptions/value-pattern.ts';

export type ExceptionWarning = { code: string; field: string; detail: string };

/**
 * Returns why an exception matches none of the detection's latest findings, with the nearest name. Returns nothing if it matches one, or if
 * there are no findings to compare with.
 */
export function findExceptionWarnings(
  exception: Pick<Exception, 'entity' | 'field' | 'value'>,
  findings: readonly ExceptionSubject[],
): ExceptionWarning[] {
  if (findings.length === 0 || findings.some(compileExceptions([exception]))) return [];
  const { entity, field, value } = exception;
  const scope = `of the ${findings.length} latest findings`;
  const entities = new Set(findings.map((finding) => finding.entity));
  if (entity !== null && ![...entities].some(compilePattern(entity)))
    return [warning('entity', `None ${scope} is about ${entity}${didYouMean(entity, entities)}`)];
  const rows = findings.flatMap((finding) => finding.rows);
  const names = new Set(rows.flatMap(({ fields }) => Object.keys(fields)));
  if (field !== null && ![...names].some((name) => name.toLowerCase() === field.toLowerCase()))
    return [warning('field', `No row ${scope} has the field ${field}${didYouMean(field, names)}`)];
  return [
    warning(
      field === null ? 'entity' : 'value',
      `The exception would mute none ${scope}. With a field, every row of a finding must have the value ${value ?? ''}.`,
    ),
  ];
}

const warning = (field: string, detail: string): ExceptionWarning => ({ code: 'matches_nothing', field, detail });
