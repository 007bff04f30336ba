import { showLine } from '../../platform/lib/text/show-text.ts';
import { describeTime, describeTimeRange } from '../analysis/wording.ts';
import type { IncidentReport, Story } from './incident-reports.schema.ts';

type Sentence = Story['paragraphs'][number]['sentences'][number];
type Citation = Sentence['cites'][number];

const statusTexts: Record<Sentence['status'], string> = {
  supported: 'cited, and confirmed by a second look',
  cited: 'cited',
  assessment: 'assessment',
};

/** How a format writes texts, which may come from logs and so from an attacker. */
type Writer = {
  escape: (text: string) => string;
  title: (text: string) => string;
  heading: (text: string) => string;
  paragraph: (text: string) => string;
  list: (items: string[]) => string;
  table: (rows: string[][]) => string;
  /** The mark of a footnote in a sentence, and the footnote. */
  mark: (n: number) => string;
  note: (n: number, text: string) => string;
};

const markdown: Writer = {
  // Characters with a meaning in GitHub's Markdown or in HTML within it, those with one at the start of a line, and those that make a link.
  escape: (text) =>
    showLine(text).replaceAll(/[\\`*_[\]<>|~&]|^[-+=#]|(?<=^\d+)[.)]|:(?=\/\/)|(?<=www)\./gi, (mark) => `\\${mark}`),
  title: (text) => `# ${text}\n`,
  heading: (text) => `## ${text}\n`,
  paragraph: (text) => `${text}\n`,
  list: (items) => `${items.map((item) => `- ${item}`).join('\n')}\n`,
  table: ([head = [], ...rows]) =>
    `${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`,
  mark: (n) => `[^${n}]`,
  note: (n, text) => `[^${n}]: ${text}`,
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const html: Writer = {
  escape: (text) => showLine(text).replaceAll(/[&<>"']/g, (mark) => entities[mark]!),
  title: (text) => `<h1>${text}</h1>`,
  heading: (text) => `<h2>${text}</h2>`,
  paragraph: (text) => `<p>${text}</p>`,
  list: (items) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`,
  table: ([head = [], ...rows]) =>
    `<table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`,
  mark: (n) => `<sup><a href="#note-${n}">${n}</a></sup>`,
  note: (n, text) => `<p id="note-${n}"><sup>${n}</sup> ${text}</p>`,
};

/** Renders a report in Markdown, with footnotes for what each sentence cites. */
export const renderMarkdown = (report: IncidentReport): string => renderParts(report, markdown).join('\n');

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ccc;overflow-wrap:anywhere}th{overflow-wrap:normal}p,li{overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td{border-color:#444}a{color:#8ab4f8}}@media print{body{margin:0;max-width:none}}';

/** Renders a report as an HTML page that loads nothing. */
export const renderHtml = (report: IncidentReport): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html.escape(report.story.headline)}</title><style>${style}</style></head><body>${renderParts(report, html).join('\n')}</body></html>\n`;

const timeOf = (at: string): string => describeTime({ at }, 'at');

function renderParts(report: IncidentReport, write: Writer): string[] {
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
  const decisions = report.timeline.filter(({ kind }) => kind !== 'hit').toReversed();
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
    write.paragraph(escape(describeLimits(story.unproven, leftOut))),
  ];
}

function describeLimits(unproven: number, { hits, isTimelineCut }: IncidentReport['leftOut']): string {
  const parts = [
    'Each sentence states a hit, or is a claim of the verdict on it.',
    unproven > 0 ? `${unproven} sentences of verdicts are left out, because nothing proves them.` : '',
    hits > 0 ? `${hits} further hits exceed the limit of a report.` : '',
    isTimelineCut ? 'Older decisions and comments exceed the limit of a report.' : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function writeSentence({ text, status, hitId, cites }: Sentence, notes: string[], write: Writer): string {
  if (cites.length === 0) return `${write.escape(text)} (${statusTexts[status]})`;
  const n = notes.length + 1;
  const cited = cites.map((citation) => describeCitation(citation)).join('; ');
  notes.push(write.note(n, write.escape(`Hit ${hitId}, ${statusTexts[status]}: ${cited}`)));
  return `${write.escape(text)}${write.mark(n)}`;
}

/** Names what a citation refers to, and the value that stands there. */
function describeCitation(cite: Citation): string {
  if (cite.observation !== undefined)
    return `${cite.observation === 'rows' ? 'row' : `observation ${cite.observation}, row`} ${cite.rowId ?? ''} ${cite.field ?? cite.column ?? ''} = ${cite.value ?? ''}`;
  const [kind = '', value = ''] =
    Object.entries(cite).find(([name]) => ['fact', 'hit', 'note', 'list', 'document', 'item'].includes(name)) ?? [];
  return `${kind} ${value}${kind === 'fact' && cite.value !== undefined ? ` = ${cite.value}` : ''}${cite.entry === undefined ? '' : ` ${cite.entry}`}${cite.quote === undefined ? '' : `: “${cite.quote}”`}`;
}
