import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { modelsQuery, promptsQuery } from '../../api/detection-parts.ts';
import { replayRun, type Replay, type Run, type Verdict } from '../../api/runs.ts';
import { toWords } from '../../lib/text.ts';
import { texts as all } from '../../texts/runs.ts';
import { Button } from '../../ui/button.tsx';
import { Field, SelectInput } from '../../ui/forms/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { ClaimSource } from '../../ui/evidence/claim-source.tsx';
import { VerdictView } from '../../ui/evidence/verdict-view.tsx';
import { Value } from '../../ui/value.tsx';

const texts = all.replay;

/** Judges the candidates of a run again, and shows both verdicts side by side. */
export function ReplayTab({ run }: { run: Run }) {
  const { data: prompts } = useQuery(promptsQuery(run.detectionId));
  const { data: models } = useQuery(modelsQuery);
  const [version, setVersion] = useState<string>();
  const [model, setModel] = useState<string>();
  const active = prompts?.prompts.find((prompt) => prompt.active)?.version;
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      replayRun(run.id, {
        ...(version !== undefined && { promptVersion: Number(version) }),
        ...(model !== undefined && { modelAlias: model }),
      }),
  });
  return (
    <div className="flex max-w-6xl flex-col gap-6 px-4 py-5">
      <p className="max-w-[72ch] text-muted">{texts.intro}</p>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Field label={texts.prompt}>
          {(control) => (
            <SelectInput
              {...control}
              value={version ?? String(active ?? '')}
              onChange={(event) => setVersion(event.target.value)}
            >
              {prompts?.prompts.map((prompt) => (
                <option key={prompt.version} value={prompt.version}>
                  {prompt.version} {prompt.active && `(${texts.active})`}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
        <Field label={texts.model}>
          {(control) => (
            <SelectInput
              {...control}
              value={model ?? run.modelAlias ?? ''}
              onChange={(event) => setModel(event.target.value)}
            >
              {models?.map(({ alias }) => (
                <option key={alias}>{alias}</option>
              ))}
            </SelectInput>
          )}
        </Field>
        <Button kind="primary" type="submit" disabled={isPending} className="h-8">
          {isPending ? texts.working : texts.start}
        </Button>
      </form>
      {error && (
        <Notice kind="error" title={all.failed}>
          {error.message}
        </Notice>
      )}
      {data && !isPending && <Comparison replay={data} />}
    </div>
  );
}

/** A replay keeps no observations, so that a sentence leads to the values that it cites. */
const sourcesOf =
  ({ evidence }: Verdict): React.ComponentProps<typeof VerdictView>['renderSource'] =>
  (claim) => <ClaimSource claim={claim} evidence={evidence} observations={[]} />;

function Comparison({ replay }: { replay: Replay }) {
  const differing = replay.compared.filter(({ differs }) => differs.length > 0).length;
  return (
    <div className="flex flex-col gap-3" aria-live="polite">
      <p>{texts.result(replay.candidates, differing)}</p>
      {replay.compared.map(({ candidateId, entity, before, after, failure, differs }) => (
        <section key={candidateId} className="rounded-control border">
          <p className="flex items-center gap-3 border-b px-3 py-1.5 text-12">
            <span className="min-w-0 font-mono">
              <Value value={entity} isCut />
            </span>
            <span className={differs.length > 0 ? 'ml-auto shrink-0 text-medium' : 'ml-auto shrink-0 text-muted'}>
              {differs.length > 0 ? `${texts.differs}: ${differs.map(toWords).join(', ')}` : texts.same}
            </span>
          </p>
          <div className="grid gap-4 p-3 md:grid-cols-2">
            <div className="flex min-w-0 flex-col gap-1.5">
              <p className="text-12 text-faint">{texts.before}</p>
              {before && <VerdictView verdict={before} renderSource={sourcesOf(before)} />}
            </div>
            <div className="flex min-w-0 flex-col gap-1.5">
              <p className="text-12 text-faint">{texts.after}</p>
              {failure ? (
                <p className="text-bad">{failure.message}</p>
              ) : (
                after && <VerdictView verdict={after} renderSource={sourcesOf(after)} />
              )}
            </div>
          </div>
        </section>
      ))}
    </div>
  );
}
