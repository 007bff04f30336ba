import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { generateDetection, installShipped, type GeneratedDetection } from '../../../api/detections.ts';
import { ApiProblem, type Alternative } from '../../../api/problem.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Button } from '../../../ui/button.tsx';
import { Field, TextArea } from '../../../ui/forms/form.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = editor.intent;

type Props = {
  /** The words that the form begins with. */
  start: string;
  siemType: string | null;
  onGenerate: (generated: GeneratedDetection) => void;
};

/** Turns plain words into a draft, and shows what it was made from, what it would have raised, and what comes near. */
export function IntentForm({ start, siemType, onGenerate }: Props) {
  const [{ intent }, setValues, draft] = useDraft(`intent ${start}`, { intent: start });
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => generateDetection({ intent, ...(siemType !== null && { siemType }) }),
    onSuccess: onGenerate,
  });
  const alternatives = data?.nearest ?? (error instanceof ApiProblem ? error.alternatives : []);
  return (
    <Section isForm level={2} title={texts.title}>
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Field label={texts.label} hint={texts.hint}>
          {(control) => (
            <TextArea
              {...control}
              className="min-h-14"
              value={intent}
              placeholder={texts.placeholder}
              onChange={({ target }) => setValues({ intent: target.value })}
            />
          )}
        </Field>
        <RestoredDraft draft={draft} />
        <div>
          <Button type="submit" disabled={isPending || intent.trim() === ''}>
            {isPending ? texts.running : texts.run}
          </Button>
        </div>
      </form>
      <div className="flex flex-col gap-2" aria-live="polite">
        {error && <Notice kind="warning" title={error.message} />}
        {data && <DraftOrigin generated={data} />}
        {alternatives.length > 0 && <NearestList alternatives={alternatives} />}
      </div>
    </Section>
  );
}

/** The source of a draft, why it was chosen, and what it would have raised. */
function DraftOrigin({ generated }: { generated: GeneratedDetection }) {
  const { basedOn, estimate, warnings, repairs } = generated;
  return (
    <>
      <p className="max-w-[72ch]">
        {texts.basedOn[basedOn.kind]} <span className="font-mono text-12">{basedOn.id}</span>
        {basedOn.matched.length > 0 && <> {texts.matched(basedOn.matched)}</>} {texts.estimate(estimate)}{' '}
        {repairs.length > 0 && texts.repaired(repairs.length)}
      </p>
      {warnings.map(({ code, detail }) => (
        <Notice key={code} kind="warning" title={detail} />
      ))}
    </>
  );
}

/** What else comes near. A shipped detection can be installed as it is. */
function NearestList({ alternatives }: { alternatives: readonly Alternative[] }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutate, error, isPending } = useMutation({
    mutationFn: installShipped,
    onSuccess: (id) => {
      void client.invalidateQueries({ queryKey: ['detections'] });
      void navigate({ to: '/detections/$id', params: { id } });
    },
  });
  return (
    <Section title={texts.nearest}>
      <ul className="flex flex-col gap-2">
        {alternatives.map(({ kind, id, name, description, missing }) => (
          <li key={`${kind} ${id}`} className="flex items-start gap-2">
            <div className="min-w-0 grow">
              <p>{name}</p>
              <p className="text-12 text-muted">{description}</p>
              {missing !== null && <p className="text-12 text-medium">{texts.missing(missing)}</p>}
            </div>
            {kind === 'shipped' && (
              <Button disabled={isPending} aria-label={texts.installLabel(name)} onClick={() => mutate(id)}>
                {texts.install}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {error && <Notice kind="error" title={error.message} />}
    </Section>
  );
}
