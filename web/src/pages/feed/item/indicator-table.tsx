import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { FeedItem } from '../../../api/feed.ts';
import { classes } from '../../../lib/text.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { indicatorsOf } from '../item-fields.ts';
import { PassageButton } from './passage-button.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';

const shownFirst = 25;

/** The indicators of an item with their state. Each leads to everything known of its value. */
export function IndicatorTable({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const [limit, setLimit] = useState(shownFirst);
  const indicators = indicatorsOf(item);
  if (indicators.length === 0) return null;
  return (
    <Section title={texts.indicators} count={indicators.length}>
      <table className="w-full table-fixed border-collapse text-12">
        <thead>
          <tr className="border-b text-left text-faint">
            <th className="h-7 font-normal">{texts.value}</th>
            <th className="w-32 pl-3 font-normal">{texts.type}</th>
            <th className="w-20 pl-3 text-right font-normal">{texts.confidence}</th>
            <th className="w-8">
              <span className="sr-only">{texts.text}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {indicators.slice(0, limit).map(({ type, value, normalizedValue, status, confidence, correction }) => (
            <tr key={`${type} ${normalizedValue}`} className="h-8 border-b last:border-b-0 hover:bg-hover">
              <td className="truncate font-mono">
                <Link
                  to="/indicators"
                  search={{ values: normalizedValue, value: normalizedValue }}
                  title={value}
                  className={classes(
                    'hover:text-accent hover:underline',
                    status !== 'active' && 'text-muted',
                    (status === 'revoked' || status === 'false_positive') && 'line-through',
                  )}
                >
                  {value}
                </Link>
                {correction && (
                  <span className="block truncate font-sans text-faint" title={correction}>
                    {texts.correction(correction)}
                  </span>
                )}
              </td>
              <td className="truncate pl-3 text-muted">
                {type.replaceAll('_', ' ')}
                {status !== 'active' && ` · ${texts.indicatorStatus[status].toLowerCase()}`}
              </td>
              <td className="tabular pl-3 text-right text-muted">{Math.round(confidence * 100)} %</td>
              <td className="text-right">
                <PassageButton subject={`indicator:${normalizedValue}`} label={value} shown={shown} onShow={onShow} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {indicators.length > limit && (
        <button
          type="button"
          onClick={() => setLimit(limit + 200)}
          className="self-start text-12 text-muted hover:text-ink"
        >
          {texts.moreIndicators(indicators.length - limit)}
        </button>
      )}
    </Section>
  );
}
