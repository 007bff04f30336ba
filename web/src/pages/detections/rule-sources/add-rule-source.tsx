import { createRuleSource, type NewRuleSource, type RuleSource } from '../../../api/rule-sources.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Button } from '../../../ui/button.tsx';
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx';
import type { Draft } from '../../../ui/forms/use-draft.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Badge, Row, Rows } from '../../../ui/lists/rows.tsx';
import { RuleSourceForm } from './rule-source-form.tsx';

/** `new` shows the packages, and `own` the form. */
type Addition = 'new' | 'own';

type Props = {
  form: Addition;
  list: {
    ruleSources: readonly RuleSource[];
    packages: readonly { url: string; title: string; description: string }[];
  };
  onForm: (form: Addition) => void;
  onAdd: (id: string) => void;
};

/** Adds a set of rules: a release package with a click, or one at an address. */
export function AddRuleSource({ form, list, onForm, onAdd }: Props) {
  const { mutate, isPending, error } = useChange({
    change: ({ source }: { source: NewRuleSource; kept?: Draft }) => createRuleSource(source),
    refresh: [['rule-sources', 'list']],
    done: ({ name }, { kept }) => {
      kept?.reset();
      return { title: texts.created, description: name };
    },
    failed: texts.notCreated,
  });
  const add = (source: NewRuleSource, kept?: Draft): void =>
    mutate({ source, ...(kept && { kept }) }, { onSuccess: ({ id }) => onAdd(id) });
  const present = new Set(list.ruleSources.map(({ url }) => url));
  return (
    <div className="flex flex-col gap-5 px-4 py-5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-15 font-strong">{texts.add}</h2>
        <SegmentedControl label={texts.from} options={texts.additions} value={form} onChange={onForm} />
      </div>
      {form === 'own' ? (
        <RuleSourceForm
          initial={{ name: '', url: '' }}
          action={texts.create}
          isPending={isPending}
          error={error}
          onSave={add}
        />
      ) : (
        <Rows label={texts.packages}>
          {list.packages.map(({ url, title, description }) => (
            <Row
              key={url}
              title={title}
              detail={description}
              actions={
                present.has(url) ? (
                  <Badge>{texts.added}</Badge>
                ) : (
                  <Button
                    disabled={isPending}
                    aria-label={`${texts.addPackage} ${title}`}
                    onClick={() => add({ name: title, url })}
                  >
                    {texts.addPackage}
                  </Button>
                )
              }
            />
          ))}
        </Rows>
      )}
    </div>
  );
}
