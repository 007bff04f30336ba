import { CheckCircle2, CircleArrowUp, CircleDashed, Pause, TriangleAlert } from 'lucide-react';
import { changeRuleSource, type RuleSource, type RuleSourceChange, isWaiting } from '../../../api/rule-sources.ts';
import { formatNumber, toWords } from '../../../lib/text.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Fact } from '../../../ui/evidence/fact-list.tsx';
import { CheckField, SelectField } from '../../../ui/forms/field.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { IconLabel, type Look } from '../../../ui/labels/icon-label.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { ExactTime } from '../../../ui/time.tsx';
import { RuleUpdateSection } from './rule-update.tsx';

/** A set of rules with its versions, which of its rules are wanted, and what an import would change. */
export function RuleSourceView({ source }: { source: RuleSource }) {
  const { mutate, isPending } = useChange({
    change: (change: RuleSourceChange) => changeRuleSource(source, change),
    refresh: [['rule-sources', 'list']],
    failed: texts.notChanged,
  });
  const { name, url, failure, version, appliedAt, available, availableAt, checkedAt, rules } = source;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong break-words">{name}</h2>
        <p className="text-12 text-muted">
          <RuleSourceState source={source} />
        </p>
        {failure !== null && (
          <Notice kind="error" title={texts.failed}>
            {failure}
          </Notice>
        )}
      </header>
      <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
        <Fact name={texts.address}>
          <span className="font-mono text-12 break-all">{url}</span>
        </Fact>
        <Fact name={texts.rules}>
          <span className="tabular">{formatNumber(rules)}</span>
        </Fact>
        <Fact name={texts.applied}>
          {version === null ? texts.notApplied : <Version id={version} at={appliedAt} />}
        </Fact>
        <Fact name={texts.newest}>{available !== null && <Version id={available} at={availableAt} />}</Fact>
        <Fact name={texts.lastCheck}>{checkedAt !== null && <ExactTime time={checkedAt} />}</Fact>
      </dl>
      <Selection source={source} isPending={isPending} onChange={mutate} />
      <RuleUpdateSection source={source} isChanging={isPending} />
    </article>
  );
}

const Version = ({ id, at }: { id: string; at: string | null }) => (
  <span className="flex flex-wrap gap-x-3">
    <span className="font-mono text-12 leading-5">{id}</span>
    {at !== null && (
      <span className="text-muted">
        <ExactTime time={at} />
      </span>
    )}
  </span>
);

const levels = Object.entries(texts.levels).map(([value, label]) => ({ value, label }));
const statuses: readonly RuleSource['statuses'][number][] = [
  'stable',
  'test',
  'experimental',
  'deprecated',
  'unsupported',
];

type SelectionProps = { source: RuleSource; isPending: boolean; onChange: (change: RuleSourceChange) => void };

/** The levels and statuses whose rules are imported. A change shows what it would mean. */
function Selection({ source, isPending, onChange }: SelectionProps) {
  return (
    <div className="grid grid-cols-[minmax(0,10rem)_1fr] gap-4">
      <SelectField
        label={texts.minLevel}
        options={levels}
        value={source.minLevel}
        disabled={isPending}
        onChange={({ target }) => onChange({ minLevel: target.value as RuleSource['minLevel'] })}
      />
      <fieldset disabled={isPending} className="flex flex-col gap-1">
        <legend className="mb-1 text-12 text-muted">{texts.statuses}</legend>
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {statuses.map((status) => {
            const others = source.statuses.filter((one) => one !== status);
            const isWanted = others.length < source.statuses.length;
            return (
              <CheckField
                key={status}
                label={toWords(status)}
                checked={isWanted}
                // One status is always wanted.
                disabled={isWanted && others.length === 0}
                onChange={() => onChange({ statuses: isWanted ? others : [...others, status] })}
              />
            );
          })}
        </div>
      </fieldset>
    </div>
  );
}

type State = keyof typeof texts.states;

const looks: Record<State, Look> = {
  current: { icon: CheckCircle2, color: 'text-good' },
  update: { icon: CircleArrowUp, color: 'text-accent' },
  failing: { icon: TriangleAlert, color: 'text-bad' },
  disabled: { icon: Pause, color: 'text-faint' },
  waiting: { icon: CircleDashed, color: 'text-muted' },
};

function stateOf(source: RuleSource): State {
  if (source.failure !== null) return 'failing';
  if (isWaiting(source)) return 'waiting';
  if (source.available !== null && source.available !== source.version) return 'update';
  return source.enabled ? 'current' : 'disabled';
}

/** Shows whether a source has a version that was not imported yet, or cannot be read. */
export function RuleSourceState({ source }: { source: RuleSource }) {
  const state = stateOf(source);
  return (
    <IconLabel look={looks[state]} className="whitespace-nowrap">
      {texts.states[state]}
    </IconLabel>
  );
}
