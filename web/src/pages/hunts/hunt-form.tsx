import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { siemsQuery } from '../../api/connections.ts';
import { itemsQuery, type FeedItem } from '../../api/feed.ts';
import { proposeHunt, runHunt, saveHunt, type Hunt, type HuntKind, type NewHunt } from '../../api/hunts.ts';
import { ApiProblem } from '../../api/problem.ts';
import { formatLocal, fromLocal, useTimeZone } from '../../lib/time.ts';
import { texts } from '../../texts/hunts.ts';
import { Button } from '../../ui/button.tsx';
import { findFieldError, FormError, SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

type Props = { hunt: Hunt | undefined; onSaved: (id: string) => void };

type Draft = Omit<NewHunt, 'span' | 'connectionId' | 'cadence' | 'words' | 'rowMeaning'> & {
  words: string;
  rowMeaning: string;
  connectionId: string;
  days: string;
  fixed: { from: string; to: string } | null;
  cadence: keyof typeof texts.cadences;
};

const initial: Draft = {
  name: '',
  kind: 'sql',
  question: '',
  words: '',
  rowMeaning: '',
  connectionId: '',
  days: '30',
  fixed: null,
  cadence: 'never',
};

function toDraft({ name, kind, question, words, rowMeaning, connectionId, span, cadence }: Hunt): Draft {
  const fixed = 'from' in span ? { from: toInput(span.from), to: toInput(span.to) } : null;
  const days = 'days' in span ? String(span.days) : initial.days;
  return {
    name,
    kind,
    question,
    days,
    fixed,
    words: words ?? '',
    rowMeaning: rowMeaning ?? '',
    connectionId: connectionId ?? '',
    cadence: cadence ?? 'never',
  };
}

/** A `datetime-local` input has no zone: the times are in that of the reader. */
const toInput = (time: string): string => formatLocal(time).slice(0, 16).replace(' ', 'T');
const toTime = (input: string): string => (input === '' ? '' : fromLocal(input));

const toConnectionId = ({ connectionId, kind }: Draft): string | null =>
  connectionId === '' || kind === 'technique' ? null : connectionId;

const toSpan = ({ days, fixed }: Draft): NewHunt['span'] =>
  fixed ? { from: toTime(fixed.from), to: toTime(fixed.to) } : { days: Number(days) };

const toHunt = (draft: Draft): NewHunt => ({
  name: draft.name.trim(),
  kind: draft.kind,
  question: draft.question.trim(),
  words: draft.kind === 'sql' ? draft.words.trim() || null : null,
  rowMeaning: draft.kind === 'sql' ? draft.rowMeaning.trim() || null : null,
  connectionId: toConnectionId(draft),
  span: toSpan(draft),
  cadence: draft.cadence === 'never' || draft.fixed ? null : draft.cadence,
});

const pointers = ['/name', '/words', '/question', '/connectionId', '/span/days', '/span/from', '/span/to'];

/** A new hunt, which runs when it is saved, or the settings of one. */
export function HuntForm({ hunt, onSaved }: Props) {
  const [seen] = useState(hunt);
  const [draft, set, kept] = useDraft(`hunt ${seen?.id ?? ''}`, seen ? toDraft(seen) : initial);
  const timeZone = useTimeZone();
  const { data: siems = [] } = useQuery(siemsQuery);
  const { mutate, isPending, error } = useChange({
    change: async (input: NewHunt) => {
      const saved = await saveHunt(input, seen);
      // A hunt with a cadence runs on its own.
      if (!seen && saved.cadence === null) await runHunt(saved.id);
      return saved;
    },
    refresh: [['hunts']],
    done: () => texts.saved,
    draft: kept,
  });
  const writing = useMutation({
    mutationFn: () =>
      proposeHunt({ words: draft.words.trim(), connectionId: toConnectionId(draft), span: toSpan(draft) }),
    onSuccess: ({ question, rowMeaning }) => set({ question, rowMeaning }),
  });
  const lacksModel =
    writing.error instanceof ApiProblem && writing.error.errors.some(({ code }) => code === 'no_model');
  const { label, hint } = texts.questions[draft.kind];
  const question = {
    label,
    hint,
    required: true,
    value: draft.question,
    error: findFieldError(error, '/question'),
    className: 'font-mono text-12',
  };
  return (
    <form
      className="flex flex-col gap-4 px-4 py-5"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(toHunt(draft), { onSuccess: ({ id }) => onSaved(id) });
      }}
    >
      <h2 className="text-15 font-strong break-words">{seen ? texts.editTitle(seen.name) : texts.add}</h2>
      <TextField
        label={texts.name}
        required
        value={draft.name}
        onChange={({ target }) => set({ name: target.value })}
        error={findFieldError(error, '/name')}
      />
      <SegmentedControl<HuntKind>
        label={texts.kind}
        options={texts.kinds}
        value={draft.kind}
        onChange={(kind) => set({ kind })}
      />
      {draft.kind === 'sql' && (
        <>
          <TextArea
            label={texts.words.label}
            hint={texts.words.hint}
            rows={2}
            value={draft.words}
            onChange={({ target }) => set({ words: target.value })}
            error={findFieldError((!lacksModel && writing.error) || error, '/words')}
          />
          <div className="flex flex-col gap-2" aria-live="polite">
            <Button
              className="self-start"
              disabled={writing.isPending || draft.words.trim() === ''}
              onClick={() => writing.mutate()}
            >
              {writing.isPending ? texts.words.writing : texts.words.write}
            </Button>
            {lacksModel && (
              <p className="text-12 text-bad">
                {texts.words.noModel}{' '}
                <Link to="/settings/models" className="text-accent hover:underline">
                  {texts.words.connect}
                </Link>
              </p>
            )}
            <FormError error={writing.error} shown={['/words']} />
            {writing.data && (
              <p className="text-12 text-muted">
                {texts.words.written(writing.data.rows, writing.data.repairs.length)}
              </p>
            )}
          </div>
        </>
      )}
      {draft.kind === 'technique' ? (
        <TextField {...question} onChange={({ target }) => set({ question: target.value })} />
      ) : (
        <TextArea {...question} rows={8} onChange={({ target }) => set({ question: target.value })} />
      )}
      {draft.kind === 'indicators' && (
        <ReportPicker
          onPick={(found) => {
            const lines = draft.question.split('\n').filter((line) => line.trim() !== '');
            set({ question: [...new Set([...lines, ...found])].join('\n') });
          }}
        />
      )}
      {draft.kind === 'sql' && (
        <TextField
          label={texts.words.meaning}
          value={draft.rowMeaning}
          onChange={({ target }) => set({ rowMeaning: target.value })}
        />
      )}
      {draft.kind !== 'technique' && siems.length > 0 && (
        <SelectField
          label={texts.connection}
          options={[{ value: '', label: texts.store }, ...siems.map(({ id, name }) => ({ value: id, label: name }))]}
          value={draft.connectionId}
          onChange={({ target }) => set({ connectionId: target.value })}
          error={findFieldError(error, '/connectionId')}
        />
      )}
      <SegmentedControl
        label={texts.span}
        options={texts.spans}
        value={draft.fixed ? 'fixed' : 'days'}
        onChange={(span) => set({ fixed: span === 'fixed' ? { from: '', to: '' } : null })}
      />
      {draft.fixed ? (
        <div className="grid grid-cols-2 gap-3">
          {(['from', 'to'] as const).map((name) => (
            <TextField
              key={name}
              label={texts[name]}
              hint={texts.zone(timeZone)}
              type="datetime-local"
              required
              value={draft.fixed![name]}
              onChange={({ target }) => set({ fixed: { ...draft.fixed!, [name]: target.value } })}
              error={findFieldError(error, `/span/${name}`)}
            />
          ))}
        </div>
      ) : (
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label={texts.days}
            type="number"
            required
            value={draft.days}
            onChange={({ target }) => set({ days: target.value })}
            error={findFieldError(error, '/span/days')}
          />
          <SelectField
            label={texts.cadence}
            options={Object.entries(texts.cadences).map(([value, text]) => ({ value, label: text }))}
            value={draft.cadence}
            onChange={({ target }) => set({ cadence: target.value as Draft['cadence'] })}
          />
        </div>
      )}
      <FormError error={error} shown={pointers} />
      <RestoredDraft draft={kept} />
      <Button kind="primary" type="submit" disabled={isPending} className="self-start">
        {seen ? texts.save : texts.create}
      </Button>
    </form>
  );
}

const reportsMax = 5;

/** Returns the indicators of an item that logs can contain. */
const listIndicators = ({ iocs }: FeedItem): string[] =>
  [iocs.ipv4, iocs.ipv6, iocs.domains, iocs.urls, iocs.hashes.filter(({ type }) => digests.has(type))]
    .flat()
    .filter(({ status }) => status === 'active' || status === 'expired')
    .map(({ normalizedValue }) => normalizedValue);
const digests = new Set(['md5', 'sha1', 'sha256', 'sha512']);

/** Finds an item of the feed by its words and adds its indicators. */
function ReportPicker({ onPick }: { onPick: (indicators: string[]) => void }) {
  const [q, setQ] = useState<string>();
  const { data } = useInfiniteQuery({ ...itemsQuery({ ...(q && { q }) }), enabled: q !== undefined });
  const found = q === undefined ? [] : (data?.pages[0]?.items ?? []).slice(0, reportsMax);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex">
        <SearchField label={texts.reports.search} value={q} onChange={setQ} />
      </div>
      {found.length > 0 && (
        <ul aria-label={texts.reports.search} className="flex flex-col gap-1">
          {found.map((item) => {
            const indicators = listIndicators(item);
            return (
              <li key={item.id} className="flex flex-wrap items-center gap-x-3">
                <span className="min-w-0 grow wrap-anywhere">{item.event.title}</span>
                <Button kind="quiet" disabled={indicators.length === 0} onClick={() => onPick(indicators)}>
                  {texts.reports.add(indicators.length)}
                </Button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
