import { useQuery } from '@tanstack/react-query';
import { toolsQuery, type Tool } from '../../api/detection-parts.ts';
import { texts } from '../../texts/tools.ts';

type Props = { chosen: readonly string[]; onChange: (names: string[]) => void };

/** A check box for each tool. A tool that a detection has under an earlier name is chosen. */
export function ToolPicker({ chosen, onChange }: Props) {
  const { data: tools } = useQuery(toolsQuery);
  const isTool = ({ name, alias }: Tool, one: string): boolean => one === name || one === alias;
  return (
    <ul className="mt-2 flex flex-col gap-1.5">
      {tools?.length === 0 && <li className="text-muted">{texts.none}</li>}
      {tools?.map((tool) => (
        <li key={tool.name}>
          <label className="flex gap-2">
            <input
              type="checkbox"
              className="mt-1 accent-accent"
              checked={chosen.some((one) => isTool(tool, one))}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, tool.name] : chosen.filter((one) => !isTool(tool, one)))
              }
            />
            <span className="min-w-0">
              <span className="font-mono text-12">{tool.name}</span>
              {tool.needsGrant && <span className="text-12 text-medium"> · {texts.needsGrant}</span>}
              <span className="block max-w-[72ch] text-12 text-muted">{tool.description}</span>
            </span>
          </label>
        </li>
      ))}
    </ul>
  );
}
