import { useQuery } from '@tanstack/react-query';
import { toolsQuery, type Tool } from '../../api/detection-parts.ts';
import { skillsQuery } from '../../api/skills.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as skillTexts } from '../../texts/skills.ts';

type Props = { chosen: readonly string[]; onChange: (names: string[]) => void };

/** A check box for each tool. A tool that a detection has under an earlier name is chosen. */
export function ToolPicker({ chosen, onChange }: Props) {
  const { data: tools } = useQuery(toolsQuery);
  const isTool = ({ name, alias }: Tool, one: string): boolean => one === name || one === alias;
  return (
    <ul className="mt-2 flex flex-col gap-1.5">
      {tools?.length === 0 && <li className="text-muted">{common.tools.none}</li>}
      {tools?.map((tool) => (
        <NameChoice
          key={tool.name}
          name={tool.name}
          description={tool.description}
          note={tool.needsGrant && common.tools.needsGrant}
          isChosen={chosen.some((one) => isTool(tool, one))}
          onChange={(isChosen) =>
            onChange(isChosen ? [...chosen, tool.name] : chosen.filter((one) => !isTool(tool, one)))
          }
        />
      ))}
    </ul>
  );
}

/** A check box for each skill. */
export function SkillPicker({ chosen, onChange }: Props) {
  const { data: skills } = useQuery(skillsQuery);
  return (
    <ul className="mt-2 flex flex-col gap-1.5">
      {skills?.map(({ name, description, source }) => (
        <NameChoice
          key={name}
          name={name}
          description={description}
          note={source === 'shipped' && skillTexts.shipped}
          isChosen={chosen.includes(name)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, name] : chosen.filter((one) => one !== name))}
        />
      ))}
    </ul>
  );
}

type ChoiceProps = {
  name: string;
  description: string;
  note: string | false;
  isChosen: boolean;
  onChange: (isChosen: boolean) => void;
};

function NameChoice({ name, description, note, isChosen, onChange }: ChoiceProps) {
  return (
    <li>
      <label className="flex gap-2">
        <input
          type="checkbox"
          className="mt-1 accent-accent"
          checked={isChosen}
          onChange={({ target }) => onChange(target.checked)}
        />
        <span className="min-w-0">
          <span className="font-mono text-12">{name}</span>
          {note && <span className="text-12 text-medium"> · {note}</span>}
          <span className="block max-w-[72ch] text-12 text-muted">{description}</span>
        </span>
      </label>
    </li>
  );
}
