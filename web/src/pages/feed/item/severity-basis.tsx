import type { FeedItem, ItemDetail } from '../../../api/feed.ts';
import { toWords } from '../../../lib/text.ts';
import { severityTexts as texts } from '../../../texts/reading.ts';
import { Section } from '../../../ui/section.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { findPassage } from '../item-fields.ts';
import { PassageButton } from './passage-button.tsx';

/** The subject of the marks in the text. */
export const severitySubject = `severity:${texts.title}`;

/** The passages that decided the severity of a report. */
export const severityPassages = (item: FeedItem & Pick<Partial<ItemDetail>, 'severityBasis'>) =>
  (item.severityBasis?.evidenceRefs ?? []).flatMap((reference) => findPassage(item, reference) ?? []);

/** Why a report has its severity: the rule that decided, and the passages that state it. */
export function SeverityBasis({ item, shown, onShow }: PassageProps & { item: ItemDetail }) {
  const { severityBasis } = item;
  if (!severityBasis) return null;
  const { rule } = severityBasis;
  return (
    <Section
      title={texts.title}
      actions={<PassageButton subject={severitySubject} label={texts.label} shown={shown} onShow={onShow} />}
    >
      <p>{texts.rules[rule] ?? toWords(rule.slice(rule.indexOf(':') + 1))}</p>
      <ul className="flex flex-col gap-1">
        {severityPassages(item).map(({ text, charSpan }) => (
          <li key={charSpan.start} className="text-12 break-words text-muted">
            <q className="line-clamp-3">{text}</q>
          </li>
        ))}
      </ul>
    </Section>
  );
}
