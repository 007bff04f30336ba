import type { FeedItem } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { Section } from '../../../ui/section.tsx';
import { findPassage } from '../item-fields.ts';
import { PassageButton } from './passage-button.tsx';

type Field = 'summary' | 'tldr' | 'attackPath';
type Passage = FeedItem['provenance']['supportingPassages'][number];

const fold = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const subjectMax = 60;
const toSubject = (label: string, text: string): string => `${label}:${text.slice(0, subjectMax)}`;

/** A sentence of an item with the passage that it rests on, and the subject of its mark in the text. */
type Statement = { text: string; passage: Passage; subject: string };

/** Returns the sentence of a step with its passage: that of a footnote, or itself if it was extracted. */
function findStep(item: FeedItem, text: string): Statement | undefined {
  const { footnotes = [], supportingPassages } = item.provenance;
  const note = footnotes.find((one) => one.field === 'attackPath' && one.text === text);
  const passage = note
    ? findPassage(item, note.evidenceRef)
    : supportingPassages.find((one) => fold(one.text) === text);
  return passage && { text, passage, subject: toSubject('step', text) };
}

const listNotes = (item: FeedItem, field: Field): Statement[] =>
  (item.provenance.footnotes ?? []).flatMap(({ field: of, text, evidenceRef }) => {
    const passage = findPassage(item, evidenceRef);
    return of === field && passage ? [{ text, passage, subject: toSubject(field, text) }] : [];
  });

const listAdvice = (item: FeedItem) =>
  (item.advice ?? []).map(({ action, text, evidenceRef }) => ({
    action,
    text,
    passage: findPassage(item, evidenceRef),
    subject: toSubject('advice', text),
  }));

/** The sentences of an item whose passages the text can show. */
export const listStatements = (item: FeedItem): { subject: string; passage: Passage | undefined }[] => [
  ...listAdvice(item),
  ...listNotes(item, 'summary'),
  ...listNotes(item, 'tldr'),
  ...item.attackPath.flatMap((text) => findStep(item, text) ?? []),
];

/** A text of several sentences, each followed by its footnote, which shows the passage. */
export function FootnotedText({
  item,
  field,
  text,
  shown,
  onShow,
}: PassageProps & { item: FeedItem; field: Field; text: string }) {
  const pieces: React.ReactNode[] = [];
  let rest = text;
  for (const [index, { text: sentence, subject }] of listNotes(item, field).entries()) {
    const at = rest.indexOf(sentence);
    if (at < 0) continue;
    pieces.push(
      rest.slice(0, at + sentence.length),
      <sup key={subject}>
        <button
          type="button"
          aria-label={texts.showPassage(sentence)}
          aria-pressed={shown === subject}
          onClick={() => onShow(shown === subject ? undefined : subject)}
          className={`cursor-pointer px-0.5 text-accent hover:underline ${shown === subject ? 'bg-selected' : ''}`}
        >
          {index + 1}
        </button>
      </sup>,
    );
    rest = rest.slice(at + sentence.length);
  }
  return (
    <>
      {pieces}
      {rest}
    </>
  );
}

/** What the report itself advises to do. */
export function AdviceList({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const advice = listAdvice(item);
  if (advice.length === 0) return null;
  return (
    <Section title={texts.advice} count={advice.length}>
      <ul className="-mx-2 flex flex-col">
        {advice.map(({ action, text, subject }) => (
          <li key={subject} className="flex items-start gap-3 rounded-control px-2 py-0.5 hover:bg-hover">
            <span className="w-20 shrink-0 py-1 text-12 text-muted">{texts.adviceActions[action]}</span>
            <span className="min-w-0 grow py-0.5 break-words">{text}</span>
            <PassageButton subject={subject} label={text} shown={shown} onShow={onShow} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What happened, in order. */
export function AttackPath({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  if (item.attackPath.length === 0) return null;
  return (
    <Section title={texts.attackPath} count={item.attackPath.length}>
      <ol className="-mx-2 flex flex-col">
        {item.attackPath.map((text, index) => {
          const step = findStep(item, text);
          return (
            <li key={index} className="flex items-start gap-3 rounded-control px-2 py-0.5 hover:bg-hover">
              <span className="tabular w-5 shrink-0 py-1 text-12 text-muted">{index + 1}</span>
              <span className="min-w-0 grow py-0.5 break-words">{text}</span>
              {step && <PassageButton subject={step.subject} label={text} shown={shown} onShow={onShow} />}
            </li>
          );
        })}
      </ol>
    </Section>
  );
}
