import { Fragment, useMemo, useState } from 'react';
import type { Mark } from '../../lib/passages.ts';
import { countOf, formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/feed.ts';

import { markFields, type Field } from '../../lib/structured/fields.ts';
import { MarkedPieces, type PassageProps } from './marked-pieces.tsx';
import { arrangeFields, type Entry } from '../../lib/structured/sections.ts';

const shownFirst = 300;
const noMarks: readonly Mark[] = [];

type ShownProps = Pick<PassageProps, 'shown'> & { onShow?: PassageProps['onShow'] | undefined };
type Props = ShownProps & { records: readonly Field[][]; marks: readonly Mark[] };
type PieceProps = ShownProps & { byField: ReadonlyMap<Field, readonly Mark[]> };

/** The fields of a structured document with labels, by object. Fields with a mark are always among the ones shown. */
export function StructuredText({ records, marks, shown, onShow }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const fields = useMemo(() => records.flat(), [records]);
  const byField = useMemo(() => markFields(fields, marks), [fields, marks]);
  const isMarked = (field: Field): boolean => byField.get(field)?.some(({ key }) => key === shown) ?? false;
  const firstMarked = shown === undefined ? -1 : fields.findIndex(isMarked);
  // A name of a field can be a mention as well.
  const isOnlyInNames = firstMarked === -1 && marks.some(({ key }) => key === shown);
  const limit = showsAll || firstMarked >= shownFirst ? Infinity : shownFirst;
  const arranged = useMemo(
    () => takeFields(records, limit).map((record) => arrangeFields(record, (field) => byField.has(field))),
    [records, limit, byField],
  );
  const pieces = { byField, shown, onShow };
  return (
    <div className="@container flex flex-col gap-5">
      {isOnlyInNames && <p className="text-12 text-muted">{texts.onlyInRaw}</p>}
      {arranged.map(({ sections, minor }, index) => (
        <div key={index} className="flex flex-col gap-3 not-first:border-t not-first:pt-4">
          {sections.map(({ title, entries }, place) => (
            <div key={place} className="flex flex-col gap-1.5">
              {title !== undefined && <h4 className={place === 0 ? 'font-strong' : 'text-12 text-muted'}>{title}</h4>}
              <Entries entries={entries} {...pieces} />
            </div>
          ))}
          {minor.length > 0 && (
            <details className="text-12">
              <summary className="w-fit cursor-pointer text-muted hover:text-ink">
                {texts.minorFields(minor.length)}
              </summary>
              <div className="pt-2">
                <Entries entries={minor} {...pieces} />
              </div>
            </details>
          )}
        </div>
      ))}
      {limit < fields.length && (
        <p className="flex gap-3 text-12 text-muted">
          {texts.longDocument(formatNumber(shownFirst), countOf(fields.length, 'field'))}
          <button type="button" onClick={() => setShowsAll(true)} className="text-accent hover:underline">
            {texts.showAll}
          </button>
        </p>
      )}
    </div>
  );
}

/** Returns the first fields, by object. */
function takeFields(records: readonly Field[][], max: number): Field[][] {
  let left = max;
  const taken: Field[][] = [];
  for (const record of records) {
    if (left <= 0) break;
    taken.push(record.slice(0, left));
    left -= record.length;
  }
  return taken;
}

const classesOf: Record<Entry['form'], string> = {
  prose: 'max-w-[72ch] whitespace-pre-wrap',
  code: 'rounded-control bg-ground px-2 py-1 font-mono text-12 whitespace-pre-wrap',
  value: 'font-mono text-12 leading-5 break-all',
  plain: '',
};

function Entries({ entries, byField, shown, onShow }: PieceProps & { entries: readonly Entry[] }) {
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-3 @sm:grid-cols-[minmax(5rem,8.5rem)_minmax(0,1fr)] @sm:gap-y-1.5">
      {entries.map(({ label, field, form }) => (
        <Fragment key={field.start}>
          <dt className="break-words text-muted @max-sm:not-first:pt-2">{label}</dt>
          <dd className={`min-w-0 break-words ${classesOf[form]}`}>
            <MarkedPieces text={field.value} marks={byField.get(field) ?? noMarks} shown={shown} onShow={onShow} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
