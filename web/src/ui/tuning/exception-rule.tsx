import type { Schemas } from '../../api/client.ts';
import { texts as proof } from '../../texts/proof.ts';

const texts = proof.exceptions;

type Condition = { field: string; value?: string; list?: string };
type Rule = Partial<Pick<Schemas['Exception'], 'entity' | 'field' | 'value' | 'list'>> & { conditions?: Condition[] };

/** Returns the conditions of an exception as short texts. */
export function listConditionTexts({ entity, field, value, list, conditions = [] }: Rule): string[] {
  const first = field ? [{ field, ...(value && { value }), ...(list && { list }) }] : [];
  const all = [
    ...(entity ? [entity] : []),
    ...(list && !field ? [texts.inList(texts.entity, list)] : []),
    ...[...first, ...conditions].map((one) =>
      one.list === undefined ? `${one.field} = ${one.value}` : texts.inList(one.field, one.list),
    ),
  ];
  return all.length === 0 ? [texts.everything] : all;
}

/** What an exception mutes. All of it must hold together. */
export function ExceptionRule({ rule }: { rule: Rule }) {
  return (
    <span className="flex flex-wrap gap-x-2 gap-y-0.5">
      {listConditionTexts(rule).map((text, index) => (
        <span key={text} className="flex min-w-0 gap-2">
          {index > 0 && <span className="text-faint">{texts.and}</span>}
          <span className="min-w-0 font-mono text-12 font-strong break-all">{text}</span>
        </span>
      ))}
    </span>
  );
}
