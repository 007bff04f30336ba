/** Words that are capitalized beside a cue without being the name of malware or an actor: `Windows backdoor`, `Chinese hackers`. */
const words = new Set(
  `a an the this that these those its their our his her new another other such various several many most all both each first second next latest recent
  previous one two three four custom modular open multi cross file fileless remote advanced persistent access initial command control server client local
  public private commercial commodity legitimate malicious unknown unnamed suspected alleged state nation sponsored backed financially motivated cyber
  cybercrime espionage threat ransomware malware backdoor trojan rat loader stealer infostealer botnet worm wiper rootkit spyware keylogger implant apt
  group gang actor actors team hackers operators crew campaign operation campaigns attack attacks intelligence research researchers labs lab unit security
  windows linux solaris freebsd openbsd aix android macos mac ios unix esxi vmware docker kubernetes azure aws google microsoft apple amazon meta facebook twitter telegram discord slack
  whatsapp signal github gitlab office word excel outlook exchange sharepoint onedrive teams powershell python java javascript jscript golang go rust node php perl
  ruby bash vba vbscript visual basic delphi dotnet net asp iis apache nginx wordpress chrome firefox edge safari opera internet explorer mozilla gecko adobe flash pdf zlib nsis upx openssl
  http https dns smtp imap ftp ssh rdp smb vpn tls ssl tcp udp api com dll exe usb uefi bios pos atm iot ics scada ot crypto bitcoin monero ethereum web
  email mail phishing spam banking mobile cloud desktop browser firefox linkedin youtube instagram reddit dropbox mega
  chinese china russian russia iranian iran korean korea north south dprk prc vietnamese indian pakistani israeli turkish ukrainian belarusian american
  czech polish hungarian romanian bulgarian greek swiss austrian dutch belgian danish norwegian swedish finnish croatian serbian slovak slovenian
  lithuanian latvian estonian georgian armenian azerbaijani kazakh uzbek mongolian thai malaysian indonesian filipino singaporean australian canadian
  mexican argentinian chilean colombian peruvian venezuelan egyptian saudi emirati qatari iraqi jordanian kuwaiti afghan bangladeshi nepalese burmese
  cambodian nigerian kenyan ethiopian moroccan tunisian algerian
  european asian latam emea apac middle east eastern western arabic brazilian syrian lebanese palestinian english french german spanish portuguese japanese taiwanese
  january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday
  mandiant fireeye crowdstrike kaspersky eset symantec broadcom mcafee trellix sophos proofpoint talos cisco fortinet fortiguard fortigate ivanti citrix
  sentinelone sentinellabs trend micro volexity unit42 palo alto networks checkpoint check point recorded future insikt zscaler bitdefender avast malwarebytes
  secureworks dragos claroty group-ib ibm x-force red canary huntress rapid7 elastic sekoia cybereason cisa fbi nsa ncsc cert mitre att&ck attack virustotal
  yara sigma snort ttp ttps ioc iocs c2 c&c cnc poc mfa raas maas saas iaas ai llm eu us usa uk un nato who what when where why how we it they he she you i
  in on at of to for from by with and or but as if so than then while during after before since until also although because however additionally
  aspx jsp elf mips arm mach o pe oem ddos dos winhttp winrar zip lnk msi hta iso vhd cli gui sdk cms p2p tor i2p iphone ipad ebpf npm pypi nuget .net
  et etpro endpoint endpoints center app apps application extension package service services software hardware firmware domain admins administrators users computers
  figure table section appendix part step version stage phase type sample samples family variant variants based using used like dubbed called named known`
    .split(/\s+/)
    .filter(Boolean),
);

/**
 * Returns whether every word of a name is generic, a number, a participle or an adverb (`Obfuscated loader`), or its first word is an
 * article, a pronoun or a conjunction. A word that is introduced as a name is no participle (`dubbed Soloshred`).
 */
export function isGenericName(name: string, isIntroduced = false): boolean {
  const parts = name.toLowerCase().split(/[ -]/);
  return (
    parts.every((part) => words.has(part) || (isIntroduced ? /^\d+$/ : /^\d+$|^\p{L}{3,}(?:ed|ing|ly)$/u).test(part)) ||
    /-(?:ge\p{Ll}+t|basiert|gestützt|ähnlich|fähig)e[nrsm]?$/u.test(name) ||
    /-(?:\p{Ll}*ed|speaking|nexus|style|like|specific|capable)$/iu.test(name) ||
    openings.has(parts[0]!)
  );
}

const openings = new Set(
  'the this that these those a an its their our his her we it they in on at of to for from by with and or but as if while during after before since also although however when where what who how both each diese dieser dieses diesem diesen cette ces este esta estos esse essa questo questa queste'.split(
    ' ',
  ),
);
