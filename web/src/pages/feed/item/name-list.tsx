import { Link } from '@tanstack/react-router';
import type { FeedItem, Prediction } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { PassageButton } from './passage-button.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { namesOf } from './subjects.ts';

type Props = PassageProps & {
  item: FeedItem;
  /** Known once the details have arrived. */
  predictions?: Prediction[] | undefined;
};

/** The actors, malware and products of an item, and the vulnerabilities that it mentions with the probability of their exploitation. */
export function NameList({ item, predictions = [], shown, onShow }: Props) {
  const names = namesOf(item).slice(0, 50);
  const cves = item.classification.mappings.filter(({ framework }) => framework === 'cve').slice(0, 50);
  if (names.length + cves.length === 0) return null;
  const predictionOf = new Map(predictions.map((prediction) => [prediction.cve, prediction]));
  return (
    <Section title={texts.names} count={names.length + cves.length}>
      <ul className="-mx-2 flex flex-col">
        {names.map(({ kind, name, aliases }) => (
          <li key={`${kind} ${name}`} className="flex min-h-8 items-center gap-3 rounded-control px-2 hover:bg-hover">
            <span className="w-20 shrink-0 text-12 text-muted">{texts[kind]}</span>
            <span className="min-w-0 grow truncate">
              {kind === 'product' ? (
                name
              ) : (
                <Link to="/entities" search={{ kind, name }} className="hover:text-accent hover:underline">
                  {name}
                </Link>
              )}
              {kind !== 'product' && aliases.length > 0 && <span className="text-faint"> {aliases.join(', ')}</span>}
            </span>
            <PassageButton subject={`name:${name}`} label={name} shown={shown} onShow={onShow} />
          </li>
        ))}
        {cves.map(({ id }) => (
          <li key={id} className="flex min-h-8 items-center gap-3 rounded-control px-2 hover:bg-hover">
            <span className="w-20 shrink-0 text-12 text-muted">CVE</span>
            <Link
              to="/entities"
              search={{ kind: 'vulnerability', name: id }}
              className="tabular font-mono text-12 text-accent hover:underline"
            >
              {id}
            </Link>
            {predictionOf.has(id) && (
              <span className="tabular text-12 text-muted">{texts.prediction(predictionOf.get(id)!)}</span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
