import { Link } from '@tanstack/react-router';
import type { FeedItem } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { findPassage, techniqueIdOf } from '../item-fields.ts';
import { PassageButton } from './passage-button.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';

/** The ATT&CK techniques of an item. Each shows the passage that it was read from. */
export function TechniqueList({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const { attack } = item.classification;
  if (attack.length === 0) return null;
  return (
    <Section title={texts.techniques} count={attack.length}>
      <ul className="-mx-2 flex flex-col">
        {attack.map((technique) => {
          const id = techniqueIdOf(technique);
          const passage = findPassage(item, technique.evidenceRef);
          const key = `technique:${id}`;
          return (
            <li key={id} className="rounded-control px-2 hover:bg-hover">
              <div className="flex min-h-8 items-center gap-3">
                <Link
                  to="/feed"
                  search={{ technique: id }}
                  aria-label={texts.itemsWith(id)}
                  className="tabular w-20 shrink-0 font-mono text-12 text-accent hover:underline"
                >
                  {id}
                </Link>
                <span className="min-w-0 grow truncate" title={technique.techniqueName}>
                  {technique.techniqueName}
                </span>
                {passage && <PassageButton subject={key} label={id} shown={shown} onShow={onShow} />}
              </div>
              {shown === key && passage && (
                <blockquote className="mb-2 ml-23 line-clamp-6 text-12 break-words text-muted">
                  {passage.text}
                </blockquote>
              )}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
