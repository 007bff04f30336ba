import { useQuery } from '@tanstack/react-query';
import { enrichmentsMax, enrichmentsQuery } from '../../../api/enrichers.ts';
import type { FeedItem } from '../../../api/feed.ts';
import { texts as enrichers } from '../../../texts/enrichers.ts';
import { texts } from '../../../texts/feed.ts';
import { Button } from '../../../ui/button.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { IndicatorTable } from '../../../ui/indicators/indicator-table.tsx';
import { indicatorsOf } from '../item-fields.ts';
import { RelativeTime } from '../../../ui/time.tsx';
import { PassageButton } from './passage-button.tsx';

/** The indicators of an item. Each shows where the text mentions it. What enrichers know of them is looked up on request, because it may cost something. */
export function ItemIndicators({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const rows = indicatorsOf(item);
  const values = rows.flatMap(({ type, normalizedValue }) => (enrichable.test(type) ? [normalizedValue] : []));
  const first = [...new Set(values)].slice(0, enrichmentsMax);
  const { data, error, isFetching, refetch } = useQuery({ ...enrichmentsQuery(first), enabled: false });
  return (
    <>
      <IndicatorTable
        rows={rows.map(({ correction, ...indicator }) => ({
          ...indicator,
          detail: correction && texts.correction(correction),
        }))}
        fileName={`indicators-${item.id}`}
        renderEnd={({ normalizedValue, value }) => (
          <PassageButton subject={`indicator:${normalizedValue}`} label={value} shown={shown} onShow={onShow} />
        )}
      />
      {first.length > 0 && data === undefined && (
        <Button className="self-start" disabled={isFetching} onClick={() => void refetch()}>
          {enrichers.lookUp(first.length)}
        </Button>
      )}
      {error && <p className="text-12 text-bad">{error.message}</p>}
      {data?.length === 0 && <p className="text-12 text-muted">{enrichers.unknown}</p>}
      {data?.map(({ enricher, value, fields, at }) => (
        <p key={`${enricher} ${value}`} className="text-12 break-words">
          <span className="font-mono">{value}</span> {Object.values(fields).join(', ')}{' '}
          <span className="text-muted">
            {enricher} · {enrichers.asOf} <RelativeTime time={at} />
          </span>
        </p>
      ))}
    </>
  );
}

/** The types of indicators that enrichers look up. */
const enrichable = /^(?:ip|domain|hash|md5|sha)/;
