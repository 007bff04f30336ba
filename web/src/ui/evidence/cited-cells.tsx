import { Link } from '@tanstack/react-router';
import type { CitedValue } from '../../api/hits.ts';
import { fieldToWords } from '../../lib/text.ts';
import { texts } from '../../texts/evidence.ts';
import { Value } from '../value.tsx';

const linkClass = 'ml-auto shrink-0 text-accent underline-offset-2 hover:underline';

/** Cited values by where they stand: the row of a query, or a fact, hit, note, value list, document or feed item. */
export function CitedCells({ cells }: { cells: readonly CitedValue[] }) {
  const places = Map.groupBy(cells, ({ observation, rowId }) => `${observation}\n${rowId}`);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {[...places].map(([place, cited]) => (
        <div key={place} className="overflow-hidden rounded-control border text-12">
          <PlaceTitle {...cited[0]!} />
          <dl className="grid grid-cols-[minmax(5rem,9rem)_1fr] gap-x-3 gap-y-1 px-3 py-2">
            {cited.map(({ observation, field, value, why }) => (
              <div key={`${field} ${value}`} className="contents">
                <dt className="font-mono wrap-anywhere text-muted">
                  {observation === 'fact' ? <span className="font-sans">{fieldToWords(field)}</span> : field}
                </dt>
                <dd className="min-w-0 wrap-anywhere">
                  {value !== '' && (
                    <Value value={value}>
                      <mark className="rounded-small box-decoration-clone px-1 font-mono">{value}</mark>
                    </Value>
                  )}
                  {why !== '' && <span className="block text-muted">{why}</span>}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </div>
  );
}

function PlaceTitle({ observation, rowId }: Pick<CitedValue, 'observation' | 'rowId'>) {
  const titleOf = Object.hasOwn(texts.sources, observation)
    ? texts.sources[observation as keyof typeof texts.sources]
    : (id: string) => `${observation} · ${id}`;
  const title = titleOf(rowId);
  return (
    <p className="flex gap-3 border-b bg-ground px-3 py-1 text-muted">
      <span className="min-w-0 truncate" title={title}>
        {title}
      </span>
      {observation === 'hit' &&
        (rowId.startsWith('review:') ? (
          <Link to="/review" search={{ case: rowId.slice('review:'.length) }} className={linkClass}>
            {texts.see.case}
          </Link>
        ) : (
          <Link to="/hits/$id" params={{ id: rowId }} className={linkClass}>
            {texts.see.hit}
          </Link>
        ))}
      {observation === 'item' && (
        <Link to="/feed/$id" params={{ id: rowId }} className={linkClass}>
          {texts.see.item}
        </Link>
      )}
    </p>
  );
}
