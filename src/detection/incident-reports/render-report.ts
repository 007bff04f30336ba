import {
  type DocumentWriter,
  htmlWriter,
  markdownWriter,
  toHtmlPage,
} from '../../platform/lib/text/document-writer.ts';
import { describeTime, describeTimeRange } from '../analysis/wording.ts';
import type { IncidentReport, Story } from './incident-reports.schema.ts';

type Sentence = Story['paragraphs'][number]['sentences'][number];
type Citation = Sentence['cites'][number];

const statusTexts: Record<Sentence['status'], string> = {
  supported: 'cited, and confirmed by a second look',
  cited: 'cited',
  assessment: 'assessment',
};

/** Renders a report in Markdown, with footnotes for what each sentence cites. */
export const renderMarkdown = (report: IncidentReport): string => renderParts(report, markdownWriter).join('\n');

/** Renders a report as an HTML page that loads nothing. */
export const renderHtml = (report: IncidentReport): string =>
  toHtmlPage(report.story.headline, renderParts(report, htmlWriter));

const timeOf = (at: string): string => describeTime({ at }, 'at');

function renderParts(report: IncidentReport, write: DocumentWriter): string[] {
  const { incident, story, hits, organization, createdAt, leftOut } = report;
  const { escape } = write;
  const state = incident.resolution === null ? incident.state : `${incident.state}, ${incident.resolution}`;
  const notes: string[] = [];
  const paragraphs = story.paragraphs.flatMap(({ name, firstAt, lastAt, sentences }) => [
    write.heading(escape(`${name}, ${describeTimeRange({ firstAt, lastAt }, 'firstAt', 'lastAt')}`)),
    write.list(sentences.map((sentence) => writeSentence(sentence, notes, write))),
  ]);
  const texts = (heading: string, list: Story['nextSteps']): string[] =>
    list.length === 0 ? [] : [write.heading(heading), write.list([...new Set(list.map(({ text }) => escape(text)))])];
  const decisions = report.timeline.filter(({ kind }) => kind !== 'hit' && kind !== 'finding').toReversed();
  const findings = report.timeline.flatMap(({ at, finding }) => (finding ? [{ at, ...finding }] : [])).toReversed();
  return [
    write.title(escape(story.headline)),
    write.list([
      escape(`${incident.severity}, ${state}, owner: ${incident.owner ?? 'none'}`),
      escape(`seen ${describeTimeRange({ from: incident.firstAt, to: incident.lastAt }, 'from', 'to')}`),
      escape(`reported for ${organization}, ${timeOf(createdAt)}`),
    ]),
    ...paragraphs,
    ...texts('Open questions', story.openQuestions),
    ...texts('Next steps', story.nextSteps),
    write.heading('Hits'),
    write.table([
      ['First seen', 'Severity', 'Entity', 'Detection', 'Headline', 'Status'],
      ...hits.map((hit) =>
        [timeOf(hit.firstSeenAt), hit.severity, hit.entity, hit.detection.name, hit.headline, hit.status].map(escape),
      ),
    ]),
    ...(findings.length === 0
      ? []
      : [
          write.heading('Findings of hunts'),
          write.table([
            ['Time', 'Entity', 'Dataset', 'Row', 'Hunt', 'Cells'],
            ...findings.map(({ at, entity, dataset, rowId, hunt, fields }) =>
              [timeOf(at), entity ?? '', dataset ?? '', rowId, hunt, describeCells(fields)].map(escape),
            ),
          ]),
        ]),
    ...(decisions.length === 0
      ? []
      : [
          write.heading('Decisions and comments'),
          write.list(
            decisions.map(({ at, actor, action, text }) =>
              escape(`${timeOf(at)} ${actor ?? 'service'}: ${action}${text === null ? '' : `: ${text}`}`),
            ),
          ),
        ]),
    write.heading('What the sentences cite'),
    ...notes,
    write.paragraph(escape(describeLimits(story, leftOut))),
  ];
}

const cellsMax = 12;

function describeCells(fields: Record<string, string>): string {
  const cells = Object.entries(fields).map(([name, value]) => `${name} = ${value}`);
  return cells.length > cellsMax ? `${cells.slice(0, cellsMax).join(', ')}, …` : cells.join(', ');
}

function describeLimits(
  { writtenBy, unproven }: Story,
  { hits, isTimelineCut, areFindingsCut }: IncidentReport['leftOut'],
): string {
  const parts = [
    writtenBy
      ? `The agent ${writtenBy.agentName}${writtenBy.model === null ? '' : ` (${writtenBy.model})`} wrote the story, and each of its sentences was checked against the cells that it cites.`
      : 'The service composed the story: each sentence states a hit, or is a claim of the verdict on it.',
    writtenBy && writtenBy.hitsSince > 0 ? `${writtenBy.hitsSince} hits are newer than the story.` : '',
    unproven > 0 ? `${unproven} sentences are left out, because nothing proves them.` : '',
    hits > 0 ? `${hits} further hits exceed the limit of a report.` : '',
    areFindingsCut ? 'Older findings of hunts exceed the limit of a report.' : '',
    isTimelineCut ? 'Older decisions and comments exceed the limit of a report.' : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function writeSentence({ text, status, hitId, cites }: Sentence, notes: string[], write: DocumentWriter): string {
  if (cites.length === 0) return `${write.escape(text)} (${statusTexts[status]})`;
  const n = notes.length + 1;
  const cited = cites.map((citation) => describeCitation(citation)).join('; ');
  const hit = cites.some((cite) => cite.hit !== undefined) ? '' : `Hit ${hitId}, `;
  notes.push(write.note(n, write.escape(`${hit}${statusTexts[status]}: ${cited}`)));
  return `${write.escape(text)}${write.mark(n)}`;
}

/** Names what a citation refers to, and the value that stands there. */
function describeCitation(cite: Citation): string {
  if (cite.observation !== undefined)
    return `${cite.hit === undefined ? '' : `hit ${cite.hit}, `}${cite.observation === 'rows' ? 'row' : `observation ${cite.observation}, row`} ${cite.rowId ?? ''} ${cite.field ?? cite.column ?? ''} = ${cite.value ?? ''}`;
  const [kind = '', value = ''] =
    Object.entries(cite).find(([name]) => ['fact', 'hit', 'note', 'list', 'document', 'item'].includes(name)) ?? [];
  return `${kind} ${value}${kind === 'fact' && cite.value !== undefined ? ` = ${cite.value}` : ''}${cite.entry === undefined ? '' : ` ${cite.entry}`}${cite.quote === undefined ? '' : `: “${cite.quote}”`}`;
}
