import { Link } from '@tanstack/react-router';
import type { EntityDetail } from '../../api/entities.ts';
import { texts } from '../../texts/entities.ts';
import { Section } from '../../ui/section.tsx';

/** The ATT&CK techniques of an entity, those that a passage states first. */
export function EntityTechniques({ techniques }: Pick<EntityDetail, 'techniques'>) {
  if (techniques.length === 0) return null;
  return (
    <Section title={texts.techniques} count={techniques.length}>
      {techniques.some(({ isStated }) => isStated) && <p className="text-12 text-muted">{texts.statedNote}</p>}
      <ul className="-mx-2 flex flex-col">
        {techniques.map(({ id, name, isStated }) => (
          <li key={id}>
            <Link
              to="/feed"
              search={{ technique: id }}
              className="flex min-h-8 items-center gap-3 rounded-control px-2 hover:bg-hover"
            >
              <span className="tabular w-20 shrink-0 font-mono text-12 text-accent">{id}</span>
              <span className="min-w-0 grow truncate" title={name}>
                {name}
              </span>
              {isStated && <span className="shrink-0 text-12 text-muted">{texts.stated}</span>}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
