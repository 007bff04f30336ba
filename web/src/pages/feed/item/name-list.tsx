import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { FeedItem, Prediction } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { ShowMore } from '../../../ui/lists/show-more.tsx';
import { Section } from '../../../ui/section.tsx';
import { PassageButton } from './passage-button.tsx';
import { namesOf, type Name } from './subjects.ts';

const shownFirst = 20;

type Props = PassageProps & {
  item: FeedItem;
  /** Known once the details have arrived. */
  predictions?: Prediction[] | undefined;
};

/** The actors, malware and vulnerabilities of an item, the latter with the probability of their exploitation, and then its products. */
export function NameList({ item, predictions = [], shown, onShow }: Props) {
  const [limit, setLimit] = useState(shownFirst);
  const names = namesOf(item);
  const cves = item.classification.mappings.filter(({ framework }) => framework === 'cve');
  const predictionOf = new Map(predictions.map((prediction) => [prediction.cve, prediction]));
  const isProduct = ({ kind }: Name): boolean => kind === 'product';
  const toEntry = (name: Name) => (
    <Entry key={`${name.kind} ${name.name}`} label={texts[name.kind]}>
      <NameText name={name} />
      <PassageButton subject={`name:${name.name}`} label={name.name} shown={shown} onShow={onShow} />
    </Entry>
  );
  const entries = [
    ...names.filter((name) => !isProduct(name)).map(toEntry),
    ...cves.map(({ id }) => (
      <Entry key={id} label={texts.linkedFilters.cve}>
        <span className="flex min-w-0 grow flex-wrap gap-x-3">
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
        </span>
      </Entry>
    )),
    ...names.filter(isProduct).map(toEntry),
  ];
  if (entries.length === 0) return null;
  return (
    <Section title={texts.names} count={entries.length}>
      <ul className="-mx-2 flex flex-col">{entries.slice(0, limit)}</ul>
      {entries.length > limit && (
        <ShowMore onClick={() => setLimit(entries.length)}>{texts.showMore(entries.length - limit)}</ShowMore>
      )}
    </Section>
  );
}

const Entry = ({ label, children }: { label: string; children: React.ReactNode }) => (
  <li className="flex min-h-8 items-center gap-3 rounded-control px-2 py-0.5 hover:bg-hover">
    <span className="w-20 shrink-0 text-12 text-muted">{label}</span>
    {children}
  </li>
);

const NameText = ({ name: { kind, name, aliases } }: { name: Name }) => (
  <span className="min-w-0 grow">
    <span className="line-clamp-2 break-words" title={name}>
      {kind === 'product' ? (
        name
      ) : (
        <Link to="/entities" search={{ kind, name }} className="hover:text-accent hover:underline">
          {name}
        </Link>
      )}
    </span>
    {kind !== 'product' && aliases.length > 0 && (
      <span className="block truncate text-12 text-faint" title={aliases.join(', ')}>
        {aliases.join(', ')}
      </span>
    )}
  </span>
);
