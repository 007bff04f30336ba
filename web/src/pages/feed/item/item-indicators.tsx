import type { FeedItem } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { IndicatorTable } from '../../../ui/indicators/indicator-table.tsx';
import { indicatorsOf } from '../item-fields.ts';
import { PassageButton } from './passage-button.tsx';

/** The indicators of an item. Each shows where the text mentions it. */
export function ItemIndicators({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  return (
    <IndicatorTable
      rows={indicatorsOf(item).map(({ correction, ...indicator }) => ({
        ...indicator,
        detail: correction && texts.correction(correction),
      }))}
      fileName={`indicators-${item.id}`}
      renderEnd={({ normalizedValue, value }) => (
        <PassageButton subject={`indicator:${normalizedValue}`} label={value} shown={shown} onShow={onShow} />
      )}
    />
  );
}
